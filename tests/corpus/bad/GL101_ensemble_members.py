"""BUG: the members of an ensemble step on sums of all gradients so far."""
import torch
from torch import nn


class Ensemble:
    def __init__(self, n):
        self.members = [nn.Linear(6, 1) for _ in range(n)]
        self.opts = [torch.optim.SGD(m.parameters(), lr=0.05) for m in self.members]

    def step(self, x, y):
        losses = []
        for m, o in zip(self.members, self.opts):
            idx = torch.randint(0, len(x), (len(x),))
            loss = ((m(x[idx]) - y[idx]) ** 2).mean()
            loss.backward()  # expect: GL101
            o.step()
            losses.append(loss.item())
        return sum(losses) / len(losses)


torch.manual_seed(0)
ens = Ensemble(3)
for _ in range(20):
    x = torch.randn(16, 6)
    v = ens.step(x, x[:, :1])
print(v)
