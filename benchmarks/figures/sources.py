"""Source files of any length."""

from __future__ import annotations


def long_file(lines: int) -> str:
    """A training loop behind many functions that have nothing to do with it."""
    head = "import torch\nfrom torch import nn\n"
    filler = "".join(
        f"def f{i}(a, b):\n    c = a + b * {i}\n    return [c, a]\n\n" for i in range(lines // 4)
    )
    loop = (
        "model = nn.Linear(4, 1)\nopt = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "for x in torch.randn(30, 8, 4):\n    loss = model(x).mean()\n    loss.backward()\n    opt.step()\n"
    )
    return head + filler + loop
