"""OK: gradients of the centres are rescaled by hand."""
import torch
from torch import nn


class CenterLoss(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.centers = nn.Parameter(torch.randn(n, d))

    def forward(self, f, y):
        return (f - self.centers[y]).square().sum(1).mean()


feat, clf, center = nn.Linear(5, 3), nn.Linear(3, 2), CenterLoss(2, 3)
opt = torch.optim.SGD([*feat.parameters(), *clf.parameters()], lr=0.05)
opt_c = torch.optim.SGD(center.parameters(), lr=0.5)
alpha = 0.1
for _ in range(8):
    x, y = torch.randn(6, 5), torch.randint(0, 2, (6,))
    f = feat(x)
    loss = nn.functional.cross_entropy(clf(f), y) + alpha * center(f, y)
    opt.zero_grad()
    opt_c.zero_grad()
    loss.backward()
    opt.step()
    for p in center.parameters():
        p.grad.data *= 1.0 / alpha
    opt_c.step()
