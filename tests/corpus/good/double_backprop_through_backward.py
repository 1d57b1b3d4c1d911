"""OK: double backprop through .grad itself: the first backward(create_graph=True) fills x only, the second trains the weights."""
import torch
from torch import nn

torch.manual_seed(0)
potential = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.Adam(potential.parameters(), lr=1e-2)


def force_field(q):
    return -q  # a spring: the potential to find is |q|^2 / 2


for step in range(80):
    q = torch.randn(64, 2, requires_grad=True)
    energy = potential(q).sum()
    energy.backward(create_graph=True, inputs=[q])
    loss = (-q.grad - force_field(q.detach())).square().mean()
    optimizer.zero_grad()
    loss.backward(inputs=list(potential.parameters()))
    optimizer.step()
    q.grad = None
print("force error", loss.item())
