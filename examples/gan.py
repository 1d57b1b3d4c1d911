"""A GAN: the generator's pass fills the critic's gradients too; each is cleared before its own pass."""

import torch
from torch import nn

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
generator_optimizer = torch.optim.Adam(generator.parameters(), lr=0.02, betas=(0.0, 0.9))
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=0.02, betas=(0.0, 0.9))
real = torch.randn(64, 2) * 0.5 + 2.0
loss_fn = nn.BCEWithLogitsLoss()

for _ in range(200):
    noise = torch.randn(64, 2)

    critic_optimizer.zero_grad()  # what the generator's last pass has left here goes
    fake = generator(noise).detach()  # and this pass stays out of the generator
    critic_loss = loss_fn(critic(real), torch.ones(64, 1)) + loss_fn(critic(fake), torch.zeros(64, 1))
    critic_loss.backward()
    critic_optimizer.step()

    generator_optimizer.zero_grad()
    generator_loss = loss_fn(critic(generator(noise)), torch.ones(64, 1))
    generator_loss.backward()
    generator_optimizer.step()

print(f"critic {critic_loss.item():.4f}, generator {generator_loss.item():.4f}")
with torch.no_grad():
    centre = generator(torch.randn(256, 2)).mean(0)
print(f"centre of the samples: {centre[0]:.2f}, {centre[1]:.2f}; of the real ones: 2, 2")
