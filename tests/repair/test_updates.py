"""The updates of a repaired program are those of a reference that computes each window's gradient at once."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from gradledger.repair.apply import applied
from gradledger.repair.propose import proposals
from tests.forked import audit
from tests.repair.audited import findings

PREAMBLE = """\
import sys
import torch
from torch import nn

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
X = torch.randn(40, 6)
Y = X @ torch.randn(6, 1)
data = list(zip(X.split(4), Y.split(4)))
model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loss_fn = nn.MSELoss()
n = {size}
"""
ENDING = "torch.save([p.detach() for p in model.parameters()], __file__ + '.pt')\n"
WINDOW = """\
for epoch in range(2):
    for i, (x, y) in enumerate(data):
        {first}
        loss = loss_fn(model(x), y)
        {loss}.backward()
        if (i + 1) % n == 0:
            optimizer.step()
            {last}
"""
SCALED = """\
scaler = torch.amp.GradScaler("cpu", init_scale=64.0, growth_interval=3)
for epoch in range(2):
    for x, y in data:
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        scaler.scale(loss).backward()
"""
CLIP = "nn.utils.clip_grad_norm_(model.parameters(), 0.1)"
PLAIN = "for epoch in range(2):\n    for x, y in data:\n"

PROGRAMS = {
    "GL101": (1, False, PLAIN + "        loss_fn(model(x), y).backward()\n        optimizer.step()\n"),
    "GL102": (
        1,
        False,
        PLAIN
        + "        loss_fn(model(x), y).backward()\n"
        + "        optimizer.zero_grad()\n        optimizer.step()\n",
    ),
    "GL103": (5, False, WINDOW.format(first="optimizer.zero_grad()", loss="(loss / n)", last="pass")),
    "GL105": (
        1,
        False,
        PLAIN
        + "        optimizer.zero_grad()\n        loss_fn(model(x), y).backward()\n"
        + "        optimizer.step()\n        optimizer.step()\n",
    ),
    "GL201": (5, False, WINDOW.format(first="pass", loss="loss", last="optimizer.zero_grad()")),
    "GL301": (1, True, SCALED + f"        {CLIP}\n        scaler.step(optimizer)\n        scaler.update()\n"),
    "GL302": (1, False, SCALED + "        optimizer.step()\n"),
    "GL303": (1, False, SCALED + "        scaler.step(optimizer)\n"),
    "GL304": (
        1,
        True,
        PLAIN
        + "        optimizer.zero_grad()\n        loss_fn(model(x), y).backward()\n"
        + f"        optimizer.step()\n        {CLIP}\n",
    ),
}


def reference(size: int, *, clip: bool) -> list[torch.Tensor]:
    """SGD in float64 on the mean loss of each whole window."""
    names: dict[str, object] = {}
    exec(PREAMBLE.format(size=size), names)
    torch.set_default_dtype(torch.float32)
    model, data = names["model"], names["data"]
    assert isinstance(model, nn.Module)
    assert isinstance(data, list)
    parameters = list(model.parameters())
    for _ in range(2):
        for start in range(0, len(data), size):
            window = data[start : start + size]
            x, y = (torch.cat(parts) for parts in zip(*window, strict=True))
            gradients = torch.autograd.grad(nn.functional.mse_loss(model(x), y), parameters)
            norm = torch.stack([g.norm() for g in gradients]).norm()
            factor = min(1.0, 0.1 / (norm.item() + 1e-6)) if clip else 1.0
            with torch.no_grad():
                for p, g in zip(parameters, gradients, strict=True):
                    p -= 0.1 * factor * g
    return [p.detach() for p in parameters]


@pytest.mark.parametrize("code", PROGRAMS)
def test_the_updates_are_the_references(code: str, tmp_path: Path) -> None:
    size, clip, body = PROGRAMS[code]
    text = PREAMBLE.format(size=size) + body + ENDING
    script, better = tmp_path / "bad.py", tmp_path / "good.py"
    script.write_text(text, encoding="utf-8")
    found = next(f for f in findings(audit(script), script) if f.code == code)
    fix = next(proposals(found, text))
    better.write_text(applied(text, fix.edits), encoding="utf-8")
    done = audit(better)
    assert (done.answer["findings"], done.status) == ([], 0), done.stderr
    after = torch.load(f"{better}.pt")
    for mine, wanted in zip(after, reference(size, clip=clip), strict=True):
        torch.testing.assert_close(mine, wanted, rtol=1e-9, atol=1e-12)
