"""BUG: a mixin clips after the step."""
import torch
from torch import nn


class Mixin:
    def clip(self):
        nn.utils.clip_grad_norm_(self.net.parameters(), self.max_norm)  # expect: GL304


class Fit(Mixin):
    max_norm = 0.5

    def __init__(self):
        self.net = nn.GRUCell(4, 6)
        self.opt = torch.optim.Adam(self.net.parameters(), lr=1e-3)

    def __call__(self, n):
        for _ in range(n):
            h = torch.zeros(5, 6)
            self.opt.zero_grad()
            for t in range(4):
                h = self.net(torch.randn(5, 4), h)
            loss = h.pow(2).mean()
            loss.backward()
            self.opt.step()
            self.clip()
        return loss.item()


torch.manual_seed(0)
print(Fit()(20))
