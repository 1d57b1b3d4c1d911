"""BUG: the optimizer is built from a model that the factory makes for itself."""
import torch
from torch import nn


def make_model():
    return nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 1))


def make_optimizer():
    return torch.optim.SGD(make_model().parameters(), lr=0.01)  # expect: GL403


net = make_model()
opt = make_optimizer()
for _ in range(10):
    loss = net(torch.randn(4, 3)).square().mean()
    opt.zero_grad()
    loss.backward()  # expect: GL403
    opt.step()
