"""OK: Langevin sampling differentiates the energy for its input many times; the parameters' spill is cleared before the real loss."""
import torch
from torch import nn

torch.manual_seed(0)
energy = nn.Sequential(nn.Linear(2, 32), nn.SiLU(), nn.Linear(32, 1))
opt = torch.optim.Adam(energy.parameters(), lr=5e-3)
chains = torch.rand(64, 2) * 4 - 2


def langevin(x, steps=8, size=0.1):
    x = x.clone().requires_grad_(True)
    for _ in range(steps):
        energy(x).sum().backward()
        with torch.no_grad():
            x += -0.5 * size * x.grad + size ** 0.5 * 0.1 * torch.randn_like(x)
        x.grad.zero_()
    return x.detach()


for step in range(25):
    data = torch.randn(64, 2) * 0.2 + 1
    chains = langevin(chains)
    opt.zero_grad()
    e_data, e_model = energy(data), energy(chains)
    loss = e_data.mean() - e_model.mean() + 0.1 * (e_data.pow(2) + e_model.pow(2)).mean()
    loss.backward()
    opt.step()
print("mean of the chains", chains.mean(0).tolist())
