"""BUG: torch.autograd.grad() returns the gradients, nobody writes them to .grad, and step() does nothing."""
import torch
from torch import nn


class Potential(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 24), nn.Softplus(), nn.Linear(24, 1))

    def force(self, points):
        points = points.requires_grad_()
        energy = self.net(points).sum()
        return -torch.autograd.grad(energy, points, create_graph=True)[0]


torch.manual_seed(3)
potential = Potential()
params = list(potential.parameters())
optimizer = torch.optim.Adam(params, lr=1e-2)
largest = 0.0
for epoch in range(2):
    for _ in range(6):
        points = torch.randn(32, 2)
        error = (potential.force(points) + points.detach()).square().mean()
        gradients = torch.autograd.grad(error, params, allow_unused=True)
        largest = max(largest, max(g.abs().max().item() for g in gradients if g is not None))
        optimizer.step()  # expect: GL106

print("force error", error.item(), "largest gradient", largest)
