"""OK: one scaler serves discriminator and generator, each with its own clear, scaled backward, step and update."""
import torch
from torch import nn

torch.manual_seed(0)
G = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 4))
D = nn.Sequential(nn.Linear(4, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
g_opt = torch.optim.Adam(G.parameters(), lr=1e-3)
d_opt = torch.optim.Adam(D.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=256.0)
bce = nn.BCEWithLogitsLoss()
amp = lambda: torch.autocast("cpu", dtype=torch.bfloat16)

for real in torch.randn(30, 16, 4) * 0.5 + 1:
    d_opt.zero_grad(set_to_none=True)
    with amp():
        fake = G(torch.randn(16, 3))
        d_loss = bce(D(real), torch.ones(16, 1)) + bce(D(fake.detach()), torch.zeros(16, 1))
    scaler.scale(d_loss).backward()
    scaler.step(d_opt)
    scaler.update()

    g_opt.zero_grad(set_to_none=True)
    with amp():
        g_loss = bce(D(fake), torch.ones(16, 1))
    scaler.scale(g_loss).backward()
    scaler.step(g_opt)
    scaler.update()
print(d_loss.item(), g_loss.item())
