"""OK: an optimizer subclass offers clear_grad() and minimize() in the style of other frameworks; the cycle inside is the usual one."""
import torch
from torch import nn


class Adam(torch.optim.Adam):
    def clear_grad(self):
        super().zero_grad()

    def minimize(self, loss):
        self.clear_grad()
        loss.backward()
        self.step()
        return loss.item()


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 1))
adam = Adam(net.parameters(), lr=1e-2)
for x in torch.randn(30, 16, 5):
    value = adam.minimize((net(x) - x.sum(1, keepdim=True)).pow(2).mean())
adam.clear_grad()
for x in torch.randn(10, 16, 5):
    loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean()
    loss.backward()
    adam.step()
    adam.clear_grad()
print(value, loss.item())
