"""OK: a context manager owns the cycle: clear on entry, step on exit, backward inside."""
from contextlib import contextmanager

import torch


@contextmanager
def training_step(optimizer):
    optimizer.zero_grad()
    yield
    optimizer.step()


class Cycle:
    """The same as a class: step, then clear, on a clean exit only."""

    def __init__(self, optimizer):
        self.optimizer = optimizer

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if kind is None:
            self.optimizer.step()
            self.optimizer.zero_grad()


torch.manual_seed(4)
x = torch.randn(64, 3)
y = x @ torch.tensor([[1.0], [-2.0], [0.5]])
model = torch.nn.Linear(3, 1)
sgd = torch.optim.SGD(model.parameters(), lr=0.1)

for _ in range(20):
    with training_step(sgd):
        loss = (model(x) - y).abs().mean()
        loss.backward()

sgd.zero_grad()
for _ in range(20):
    with Cycle(sgd):
        loss = (model(x) - y).pow(2).mean()
        loss.backward()
print("loss", loss.item())
