"""BUG: before the generator's step the discriminator's parameters are clipped."""
import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_

torch.manual_seed(190)
real_data = torch.randn(192, 6) @ torch.randn(6, 6) * 0.5 + 1
gen = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 6))
disc = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
gen_opt = torch.optim.RMSprop(gen.parameters(), lr=5e-4)
disc_opt = torch.optim.RMSprop(disc.parameters(), lr=5e-4)
hinge = nn.functional.relu

for epoch in range(2):
    for real in real_data.split(32):
        with torch.no_grad():
            fake = gen(torch.randn(len(real), 3))
        disc_opt.zero_grad()
        d_loss = hinge(1 - disc(real)).mean() + hinge(1 + disc(fake)).mean()
        d_loss.backward()
        clip_grad_norm_(disc.parameters(), 1.0)
        disc_opt.step()

        disc.requires_grad_(False)
        disc_opt.zero_grad()
        gen_opt.zero_grad()
        g_loss = -disc(gen(torch.randn(len(real), 3))).mean()
        g_loss.backward()
        clip_grad_norm_(disc.parameters(), 1.0)  # expect: GL309
        gen_opt.step()
        disc.requires_grad_(True)
    print("epoch", epoch, d_loss.item(), g_loss.item())
