"""OK: a physics-informed net trains with Adam first and LBFGS afterwards on the same parameters; each optimizer has its own phase."""
import math

import torch
from torch import nn

torch.manual_seed(0)
u = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1))
grid = torch.linspace(0, 1, 40)[:, None]
ends = torch.tensor([[0.0], [1.0]])


def residual_loss():
    x = grid.clone().requires_grad_(True)
    y = u(x)
    dy = torch.autograd.grad(y.sum(), x, create_graph=True)[0]
    ddy = torch.autograd.grad(dy.sum(), x, create_graph=True)[0]
    inside = (ddy + math.pi ** 2 * torch.sin(math.pi * x)).pow(2).mean()
    return inside + 100 * u(ends).pow(2).mean()


adam = torch.optim.Adam(u.parameters(), lr=1e-2)
for it in range(60):
    adam.zero_grad()
    loss = residual_loss()
    loss.backward()
    adam.step()
halfway = loss.item()

lbfgs = torch.optim.LBFGS(u.parameters(), max_iter=20, line_search_fn="strong_wolfe")


def closure():
    lbfgs.zero_grad()
    loss = residual_loss()
    loss.backward()
    return loss


for _ in range(3):
    lbfgs.step(closure)
print("after Adam", halfway, "after LBFGS", residual_loss().item())
