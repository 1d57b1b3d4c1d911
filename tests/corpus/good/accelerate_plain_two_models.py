"""OK: a GAN under Accelerate without accumulation: each side is cleared before its own accelerator.backward()."""
import torch
from accelerate import Accelerator
from torch import nn

torch.manual_seed(0)
accelerator = Accelerator(cpu=True)
gen = nn.Sequential(nn.Linear(3, 12), nn.ReLU(), nn.Linear(12, 2))
disc = nn.Sequential(nn.Linear(2, 12), nn.LeakyReLU(0.2), nn.Linear(12, 1))
gen_opt = torch.optim.Adam(gen.parameters(), lr=1e-3)
disc_opt = torch.optim.Adam(disc.parameters(), lr=1e-3)
gen, disc, gen_opt, disc_opt = accelerator.prepare(gen, disc, gen_opt, disc_opt)
softplus = nn.functional.softplus

for real in torch.randn(25, 16, 2) + 2:
    fake = gen(torch.randn(16, 3))
    disc_loss = softplus(-disc(real)).mean() + softplus(disc(fake.detach())).mean()
    disc_opt.zero_grad()
    accelerator.backward(disc_loss)
    disc_opt.step()

    gen_loss = softplus(-disc(fake)).mean()
    gen_opt.zero_grad()
    accelerator.backward(gen_loss)
    gen_opt.step()
print(disc_loss.item(), gen_loss.item())
