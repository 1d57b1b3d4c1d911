"""BUG: D_B is cleared after its step instead of before its backward, so the generators' loss is in its next step."""
import itertools

import torch
import torch.nn as nn


def generator():
    return nn.Sequential(nn.Linear(3, 16), nn.LeakyReLU(0.2), nn.Linear(16, 3))


def discriminator():
    return nn.Sequential(nn.Linear(3, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))


torch.manual_seed(4013)
G_AB, G_BA, D_A, D_B = generator(), generator(), discriminator(), discriminator()
optimizer_G = torch.optim.Adam(itertools.chain(G_AB.parameters(), G_BA.parameters()), lr=2e-4, betas=(0.5, 0.999))
optimizer_D_A = torch.optim.Adam(D_A.parameters(), lr=2e-4, betas=(0.5, 0.999))
optimizer_D_B = torch.optim.Adam(D_B.parameters(), lr=2e-4, betas=(0.5, 0.999))
criterion_GAN = nn.MSELoss()
criterion_cycle = criterion_identity = nn.L1Loss()

domain_A = torch.randn(96, 3) + torch.tensor([2.0, 0.0, 0.0])
domain_B = torch.randn(96, 3) * 0.5
valid, fake = torch.ones(16, 1), torch.zeros(16, 1)

for epoch in range(3):
    for real_A, real_B in zip(domain_A.split(16), domain_B.split(16)):
        # ---- generators
        optimizer_G.zero_grad()
        fake_B, fake_A = G_AB(real_A), G_BA(real_B)
        loss_id = criterion_identity(G_BA(real_A), real_A) + criterion_identity(G_AB(real_B), real_B)
        loss_gan = criterion_GAN(D_B(fake_B), valid) + criterion_GAN(D_A(fake_A), valid)
        loss_cycle = criterion_cycle(G_BA(fake_B), real_A) + criterion_cycle(G_AB(fake_A), real_B)
        loss_G = loss_gan + 10 * loss_cycle + 5 * loss_id
        loss_G.backward()
        optimizer_G.step()
        # ---- discriminator A
        optimizer_D_A.zero_grad()
        loss_D_A = (criterion_GAN(D_A(real_A), valid) + criterion_GAN(D_A(fake_A.detach()), fake)) / 2
        loss_D_A.backward()
        optimizer_D_A.step()
        # ---- discriminator B
        loss_D_B = (criterion_GAN(D_B(real_B), valid) + criterion_GAN(D_B(fake_B.detach()), fake)) / 2
        loss_D_B.backward()
        optimizer_D_B.step()  # expect: GL401
        optimizer_D_B.zero_grad()  # expect: GL401
    print(f"[epoch {epoch}] G {loss_G.item():.3f} D_A {loss_D_A.item():.3f} D_B {loss_D_B.item():.3f}")
