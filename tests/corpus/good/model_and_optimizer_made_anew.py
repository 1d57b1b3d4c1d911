"""OK: model and optimizer are replaced together."""
import torch
from torch import nn


class Search:
    def __init__(self):
        self.reset(4)

    def reset(self, width):
        self.model = nn.Sequential(nn.Linear(3, width), nn.Tanh(), nn.Linear(width, 1))
        self.opt = torch.optim.Adam(self.model.parameters(), lr=1e-2)

    def train(self, n):
        for _ in range(n):
            self.opt.zero_grad()
            self.model(torch.randn(4, 3)).square().mean().backward()
            self.opt.step()


s = Search()
s.train(3)
for w in (8, 16):
    s.reset(w)
    s.train(3)
