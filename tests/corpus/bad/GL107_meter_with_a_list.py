"""BUG: the meter keeps each loss with its graph."""
import torch
from torch import nn


class Meter:
    def __init__(self):
        self.values = []

    def add(self, v):
        self.values.append(v)  # expect: GL107

    def mean(self):
        return sum(self.values) / len(self.values)


def train(model, opt, n):
    meter = Meter()
    for _ in range(n):
        x = torch.randn(16, 3)
        y = x.prod(1, keepdim=True)
        opt.zero_grad(set_to_none=True)
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        opt.step()
        meter.add(loss)  # expect: GL107
    return meter.mean()


torch.manual_seed(1)
model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.05)
for e in range(3):
    print(e, float(train(model, opt, 40)))
