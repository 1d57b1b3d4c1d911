# codes: GL401
import torch
from torch import nn

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
generator_optimizer = torch.optim.SGD(generator.parameters(), lr=0.05)
critic_optimizer = torch.optim.SGD(critic.parameters(), lr=0.05)
data, noise = torch.randn(64, 2) + 2.0, torch.randn(64, 2)

for step in range(40):
    generator_optimizer.zero_grad()
    generator_loss = -critic(generator(noise)).mean()
    generator_loss.backward()
    generator_optimizer.step()

    fake = generator(noise).detach()
    critic_loss = critic(fake).mean() - critic(data).mean() + critic(data).square().mean()
    critic_loss.backward()
    critic_optimizer.step()
    critic_optimizer.zero_grad()

print(f"critic's loss {critic_loss.item():.4f}")
model = critic  # what is compared with the arithmetic
