"""BUG: the closure handed to Adam computes the loss and returns it without calling backward()."""
import torch
from torch import nn


class HarmonicPINN(nn.Module):
    """u'' + w^2 u = 0, u(0) = 1, u'(0) = 0."""

    def __init__(self, omega=2.0):
        super().__init__()
        self.omega = omega
        self.net = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 1))

    def derivatives(self, t):
        t = t.requires_grad_(True)
        u = self.net(t)
        du = torch.autograd.grad(u.sum(), t, create_graph=True)[0]
        d2u = torch.autograd.grad(du.sum(), t, create_graph=True)[0]
        return u, du, d2u

    def residual_loss(self, t):
        u, _, d2u = self.derivatives(t)
        return (d2u + self.omega**2 * u).pow(2).mean()

    def initial_loss(self):
        u, du, _ = self.derivatives(torch.zeros(1, 1))
        return (u - 1).pow(2).mean() + du.pow(2).mean()


torch.manual_seed(61)
pinn = HarmonicPINN()
optimizer = torch.optim.Adam(pinn.parameters(), lr=1e-3)
for epoch in range(3):
    for points in torch.rand(5, 40, 1).unbind(0):

        def closure():
            optimizer.zero_grad()
            loss = pinn.residual_loss(points * 2) + 10 * pinn.initial_loss()
            return loss

        loss = optimizer.step(closure)  # expect: GL106
    print(f"epoch {epoch}: {loss.item():.4f}")
