"""The setting in which the rules' examples run: a small model, its data, an optimizer, a loss."""

from __future__ import annotations

PREAMBLE = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X = torch.randn(80, 10)
Y = X @ torch.randn(10, 1)
loader = DataLoader(TensorDataset(X, Y), batch_size=8)
model = nn.Sequential(nn.Linear(10, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
loss_fn = nn.MSELoss()

"""


def program(example: str) -> str:
    """The example as a whole program."""
    return PREAMBLE + example


def marked_line(example: str) -> int:
    """The line of the whole program at which the finding belongs."""
    lines = program(example).splitlines()
    return next(number for number, line in enumerate(lines, 1) if "# <- here" in line)
