"""OK: a pure evaluation of robustness; the attack fills the trained model's gradients, and no step uses them."""
import torch
from torch import nn


def train(net, x, y):
    opt = torch.optim.SGD(net.parameters(), lr=0.2)
    for _ in range(60):
        opt.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        opt.step()


def pgd(net, x, y, eps, steps=10):
    adv = x.clone()
    for _ in range(steps):
        adv = adv.detach().requires_grad_(True)
        nn.functional.cross_entropy(net(adv), y).backward()
        adv = x + (adv + 0.25 * eps * adv.grad.sign() - x).clamp(-eps, eps)
    return adv.detach()


torch.manual_seed(0)
x = torch.randn(200, 6)
y = (x[:, 0] + 0.5 * x[:, 1] > 0).long()
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
train(net, x, y)
for eps in (0.0, 0.1, 0.3):
    adv = pgd(net, x, y, eps)
    with torch.no_grad():
        print(f"eps {eps}: accuracy {(net(adv).argmax(1) == y).float().mean():.3f}")
