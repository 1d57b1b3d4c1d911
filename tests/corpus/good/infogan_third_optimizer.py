"""OK: a third optimizer shares G and Q with the information loss; every phase clears the parameters it is about to step."""
import itertools

import torch
from torch import nn

torch.manual_seed(0)
G = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 5))
trunk = nn.Sequential(nn.Linear(5, 24), nn.LeakyReLU(0.1))
head_d, head_q = nn.Linear(24, 1), nn.Linear(24, 2)
D_params = list(trunk.parameters()) + list(head_d.parameters())
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3)
opt_d = torch.optim.Adam(D_params, lr=1e-3)
opt_info = torch.optim.Adam(itertools.chain(G.parameters(), trunk.parameters(), head_q.parameters()), lr=1e-3)
bce, mse = nn.BCEWithLogitsLoss(), nn.MSELoss()


def noise(n):
    code = torch.rand(n, 2) * 2 - 1
    return torch.cat([torch.randn(n, 4), code], 1), code


for step in range(30):
    ones, zeros = torch.ones(20, 1), torch.zeros(20, 1)
    opt_g.zero_grad()
    z, _ = noise(20)
    g_loss = bce(head_d(trunk(G(z))), ones)
    g_loss.backward()
    opt_g.step()

    opt_d.zero_grad()
    z, _ = noise(20)
    d_loss = bce(head_d(trunk(torch.randn(20, 5) * 2)), ones) + bce(head_d(trunk(G(z).detach())), zeros)
    d_loss.backward()
    opt_d.step()

    opt_info.zero_grad()
    z, code = noise(20)
    info = mse(head_q(trunk(G(z))), code)
    info.backward()
    opt_info.step()
print(g_loss.item(), d_loss.item(), info.item())
