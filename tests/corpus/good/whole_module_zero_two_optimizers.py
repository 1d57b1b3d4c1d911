"""OK: one module holds both players and whole.zero_grad() clears everything at the start of each phase, whichever optimizer follows."""
import torch
from torch import nn


class Duel(nn.Module):
    def __init__(self):
        super().__init__()
        self.G = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 3))
        self.D = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))

    def d_loss(self, real):
        fake = self.G(torch.randn(len(real), 2))
        return torch.relu(1 - self.D(real)).mean() + torch.relu(1 + self.D(fake)).mean()  # not detached

    def g_loss(self, n):
        return -self.D(self.G(torch.randn(n, 2))).mean()


torch.manual_seed(0)
whole = Duel()
opt_d = torch.optim.Adam(whole.D.parameters(), lr=1e-3)
opt_g = torch.optim.Adam(whole.G.parameters(), lr=1e-3)
for real in torch.randn(30, 16, 3) - 1:
    whole.zero_grad()
    d = whole.d_loss(real)
    d.backward()
    opt_d.step()

    whole.zero_grad()
    g = whole.g_loss(16)
    g.backward()
    opt_g.step()
print(d.item(), g.item())
