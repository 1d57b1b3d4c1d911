"""OK: five members with an optimizer each train side by side in lists; each loss reaches its own member only."""
import torch
from torch import nn

torch.manual_seed(0)
members = [nn.Sequential(nn.Linear(1, 12), nn.Tanh(), nn.Linear(12, 1)) for _ in range(5)]
optimizers = [torch.optim.Adam(m.parameters(), lr=1e-2) for m in members]
x = torch.linspace(-1, 1, 80)[:, None]
y = (3 * x).sin() + 0.1 * torch.randn(80, 1)
for epoch in range(15):
    boots = [torch.randint(0, 80, (80,)) for _ in members]
    losses = [nn.functional.mse_loss(m(x[b]), y[b]) for m, b in zip(members, boots)]
    for opt in optimizers:
        opt.zero_grad()
    torch.autograd.backward(losses)
    for opt in optimizers:
        opt.step()
with torch.no_grad():
    spread = torch.stack([m(x) for m in members]).std(0).mean()
print("spread", spread.item())
