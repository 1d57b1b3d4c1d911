"""OK: Lookahead subclasses Optimizer, shares its inner optimizer's groups and steps it from its own step; that is one update."""
import torch
from torch import nn
from torch.optim import Optimizer


class Lookahead(Optimizer):
    def __init__(self, inner, k=5, alpha=0.5):
        self.inner, self.k, self.alpha, self.count = inner, k, alpha, 0
        super().__init__(inner.param_groups, dict(inner.defaults))
        self.param_groups = inner.param_groups
        self.slow = [[p.detach().clone() for p in g["params"]] for g in self.param_groups]

    def zero_grad(self, set_to_none=True):
        self.inner.zero_grad(set_to_none=set_to_none)

    def step(self, closure=None):
        loss = self.inner.step(closure)
        self.count += 1
        if self.count % self.k == 0:
            with torch.no_grad():
                for group, slow in zip(self.param_groups, self.slow):
                    for p, s in zip(group["params"], slow):
                        s.add_(p - s, alpha=self.alpha)
                        p.copy_(s)
        return loss


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(12, 24), nn.Mish(), nn.Linear(24, 3))
optimizer = Lookahead(torch.optim.Adam(net.parameters(), lr=1e-2))
x = torch.randn(240, 12)
y = x[:, :3].argmax(1)
for epoch in range(6):
    for xb, yb in zip(x.split(40), y.split(40)):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(xb), yb)
        loss.backward()
        optimizer.step()
print("loss", loss.item())
