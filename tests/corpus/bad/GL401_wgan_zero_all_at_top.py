"""BUG: both networks are zeroed at the top; the critic then steps on its own gradients plus those of the generator's loss."""
import torch
from torch import nn
from torch.utils.data import DataLoader


class WGAN:
    def __init__(self, z=5, width=8):
        self.z = z
        self.generator = nn.Sequential(nn.Linear(z, 24), nn.ReLU(), nn.Linear(24, width))
        self.critic = nn.Sequential(nn.Linear(width, 24), nn.LeakyReLU(0.2), nn.Linear(24, 1))
        self.g_opt = torch.optim.RMSprop(self.generator.parameters(), lr=5e-4)
        self.c_opt = torch.optim.RMSprop(self.critic.parameters(), lr=5e-4)

    def sample(self, n):
        return self.generator(torch.randn(n, self.z))

    def train_batch(self, real):
        self.g_opt.zero_grad()
        self.c_opt.zero_grad()  # expect: GL401

        g_loss = -self.critic(self.sample(len(real))).mean()
        g_loss.backward()
        self.g_opt.step()

        fake = self.sample(len(real)).detach()
        c_loss = self.critic(fake).mean() - self.critic(real).mean()
        c_loss.backward()
        self.c_opt.step()  # expect: GL401
        with torch.no_grad():
            for p in self.critic.parameters():
                p.clamp_(-0.05, 0.05)
        return g_loss.item(), c_loss.item()


if __name__ == "__main__":
    torch.manual_seed(200)
    data = torch.randn(192, 8).cumsum(dim=1)
    gan = WGAN()
    for epoch in range(2):
        for real in DataLoader(data, batch_size=24, shuffle=True):
            losses = gan.train_batch(real)
        print("epoch", epoch, losses)
