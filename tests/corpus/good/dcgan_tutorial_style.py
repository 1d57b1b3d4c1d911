"""OK: netD.zero_grad() precedes D's two backward calls, and netG.zero_grad() precedes G's, whose spill into D is cleared next time."""
import torch
from torch import nn, optim
from sklearn.datasets import load_digits

torch.manual_seed(0)
images = torch.tensor(load_digits().images, dtype=torch.float32).unsqueeze(1)[:256] / 8 - 1
nz = 8
netG = nn.Sequential(nn.ConvTranspose2d(nz, 16, 4), nn.BatchNorm2d(16), nn.ReLU(True),
                     nn.ConvTranspose2d(16, 1, 4, 2, 1), nn.Tanh())
netD = nn.Sequential(nn.Conv2d(1, 16, 4, 2, 1), nn.LeakyReLU(0.2, True), nn.Conv2d(16, 1, 4), nn.Flatten())
criterion = nn.BCEWithLogitsLoss()
optimizerD = optim.Adam(netD.parameters(), lr=2e-4, betas=(0.5, 0.999))
optimizerG = optim.Adam(netG.parameters(), lr=2e-4, betas=(0.5, 0.999))
real_label, fake_label = 1.0, 0.0

for epoch in range(2):
    for i, real in enumerate(images.split(32)):
        netD.zero_grad()
        b = real.size(0)
        label = torch.full((b, 1), real_label)
        errD_real = criterion(netD(real), label)
        errD_real.backward()
        fake = netG(torch.randn(b, nz, 1, 1))
        label.fill_(fake_label)
        errD_fake = criterion(netD(fake.detach()), label)
        errD_fake.backward()
        errD = errD_real + errD_fake
        optimizerD.step()

        netG.zero_grad()
        label.fill_(real_label)
        errG = criterion(netD(fake), label)
        errG.backward()
        optimizerG.step()
print(f"D {errD.item():.3f} G {errG.item():.3f}")
