"""OK: pix2pix: D trains on detached fakes, G on adversarial plus L1 loss with D's gradients cleared at the start of D's turn."""
import torch
from torch import nn

torch.manual_seed(0)
net_g = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 1, 3, padding=1))
net_d = nn.Sequential(nn.Conv2d(2, 8, 3, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(8, 1, 3, 2, 1))
opt_g = torch.optim.Adam(net_g.parameters(), lr=2e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(net_d.parameters(), lr=2e-3, betas=(0.5, 0.999))
gan = nn.BCEWithLogitsLoss()


def judge(logits, truth):
    return gan(logits, torch.full_like(logits, float(truth)))


def requires_grad(net, flag):
    net.requires_grad_(flag)


for epoch in range(2):
    for a in torch.rand(10, 4, 1, 12, 12):
        b = 1 - a
        fake_b = net_g(a)

        requires_grad(net_d, True)
        opt_d.zero_grad()
        loss_d_fake = judge(net_d(torch.cat([a, fake_b.detach()], 1)), False)
        loss_d_real = judge(net_d(torch.cat([a, b], 1)), True)
        ((loss_d_fake + loss_d_real) * 0.5).backward()
        opt_d.step()

        requires_grad(net_d, False)
        opt_g.zero_grad()
        loss_g = judge(net_d(torch.cat([a, fake_b], 1)), True) + 100 * (fake_b - b).abs().mean()
        loss_g.backward()
        opt_g.step()
print("G", loss_g.item(), "D", (loss_d_fake + loss_d_real).item())
