"""Two optimizers may share a model's layers: the matrices to one, the vectors to the other."""

from __future__ import annotations

import pytest

from tests.static.project import programs, said

_LOOP = """\
for x, y in loader:
    matrices.zero_grad()
    vectors.zero_grad()
    torch.nn.functional.mse_loss(model(x), y).backward()
    matrices.step()
    vectors.step()
"""

PLAIN = {
    "by attribute": f"""\
import torch

model = torch.nn.Linear(4, 1)
matrices = torch.optim.SGD([model.weight], lr=0.1)
vectors = torch.optim.AdamW([model.bias], lr=0.1)
{_LOOP}""",
    "by their names": f"""\
import torch

model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 1))
matrices = torch.optim.SGD([p for n, p in model.named_parameters() if n.endswith("weight")], lr=0.1)
vectors = torch.optim.AdamW([p for n, p in model.named_parameters() if n.endswith("bias")], lr=0.1)
{_LOOP}""",
    "by their dimensions, of a model with a class": f"""\
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.outer = torch.nn.Linear(4, 4), torch.nn.Linear(4, 1)

    def forward(self, x):
        return self.outer(self.inner(x))


model = Net()
matrices = torch.optim.SGD([p for p in model.parameters() if p.ndim >= 2], lr=0.1)
vectors = torch.optim.AdamW([p for p in model.parameters() if p.ndim < 2], lr=0.1)
{_LOOP}""",
    "sorted in a loop": f"""\
import torch

model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 1))
decayed, plain = [], []
for name, p in model.named_parameters():
    (decayed if p.ndim >= 2 else plain).append(p)
matrices = torch.optim.SGD(decayed, lr=0.1)
vectors = torch.optim.AdamW(plain, lr=0.1)
{_LOOP}""",
    "filtered, in a list of optimizers": """\
import torch


def fit(model, loader):
    optimizers = [
        torch.optim.SGD(filter(lambda p: p.ndim > 1, model.parameters()), lr=0.1),
        torch.optim.AdamW(filter(lambda p: p.ndim < 2, model.parameters()), lr=0.1),
    ]
    for x, y in loader:
        for optimizer in optimizers:
            optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        for optimizer in optimizers:
            optimizer.step()


fit(torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 1)), loader)
""",
}


@pytest.mark.parametrize("text", programs(PLAIN))
def test_nothing_is_said(text: str) -> None:
    assert said(text) == []


@pytest.mark.parametrize("name", ["by attribute", "by their names"])
def test_a_second_step_of_one_of_them_is_found(name: str) -> None:
    text = PLAIN[name].replace("    vectors.step()\n", "    vectors.step()\n    vectors.step()\n")
    assert [(code, line) for code, _, line in said(text)] == [("GL105", len(text.splitlines()))]


def test_all_parameters_in_two_optimizers_are_possibly_stepped_twice() -> None:
    text = PLAIN["by attribute"].replace("[model.weight]", "model.parameters()")
    text = text.replace("[model.bias]", "model.parameters()")
    assert [place[0] for place in said(text)] == ["GL105"]
