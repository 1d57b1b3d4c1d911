"""gan.py with two Accumulators: a pass reaches its own accumulator's parameters only."""

import torch
from torch import nn

import gradledger

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
generator_acc = gradledger.Accumulator(
    generator, torch.optim.Adam(generator.parameters(), lr=0.02, betas=(0.0, 0.9))
)
critic_acc = gradledger.Accumulator(critic, torch.optim.Adam(critic.parameters(), lr=0.02, betas=(0.0, 0.9)))
real = torch.randn(64, 2) * 0.5 + 2.0
loss_fn = nn.BCEWithLogitsLoss()

for _ in range(200):
    noise = torch.randn(64, 2)
    fake = generator(noise)
    critic_loss = loss_fn(critic(real), torch.ones(64, 1)) + loss_fn(critic(fake), torch.zeros(64, 1))
    critic_acc.backward(critic_loss, count=64)
    generator_loss = loss_fn(critic(generator(noise)), torch.ones(64, 1))
    generator_acc.backward(generator_loss, count=64)

print(f"critic {critic_loss.item():.4f}, generator {generator_loss.item():.4f}")
with torch.no_grad():
    centre = generator(torch.randn(256, 2)).mean(0)
print(f"centre of the samples: {centre[0]:.2f}, {centre[1]:.2f}; of the real ones: 2, 2")
