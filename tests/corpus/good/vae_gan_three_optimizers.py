"""OK: encoder, decoder and discriminator have their own losses by autograd.grad on one graph; each gradient is assigned, none accumulates."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Encoder(nn.Module):
    def __init__(self, z=6):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(64, 48), nn.ReLU())
        self.mu, self.logvar = nn.Linear(48, z), nn.Linear(48, z)

    def forward(self, x):
        h = self.body(x)
        mu, logvar = self.mu(h), self.logvar(h).clamp(-6, 6)
        return mu + torch.randn_like(mu) * (0.5 * logvar).exp(), mu, logvar


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(64, 48), nn.LeakyReLU(0.2))
        self.head = nn.Linear(48, 1)

    def forward(self, x):
        f = self.features(x)
        return self.head(f), f


def assign(module, grads):
    for p, g in zip(module.parameters(), grads):
        p.grad = torch.zeros_like(p) if g is None else g.detach()


class Trainer:
    def __init__(self, z=6, gamma=0.5):
        self.encoder, self.discriminator = Encoder(z), Discriminator()
        self.decoder = nn.Sequential(nn.Linear(z, 48), nn.ReLU(), nn.Linear(48, 64), nn.Sigmoid())
        self.z, self.gamma = z, gamma
        self.opt_e = torch.optim.RMSprop(self.encoder.parameters(), lr=1e-3)
        self.opt_g = torch.optim.RMSprop(self.decoder.parameters(), lr=1e-3)
        self.opt_d = torch.optim.RMSprop(self.discriminator.parameters(), lr=3e-4)
        self.schedulers = [torch.optim.lr_scheduler.ExponentialLR(o, 0.9) for o in (self.opt_e, self.opt_g, self.opt_d)]

    def losses(self, x):
        code, mu, logvar = self.encoder(x)
        recon, sample = self.decoder(code), self.decoder(torch.randn(len(x), self.z))
        d_real, f_real = self.discriminator(x)
        d_recon, f_recon = self.discriminator(recon)
        d_sample, _ = self.discriminator(sample)
        gan = (F.softplus(-d_real) + F.softplus(d_recon) + F.softplus(d_sample)).mean()
        like = F.mse_loss(f_recon, f_real)
        kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1).mean()
        return gan, like, kl

    def step(self, x):
        gan, like, kl = self.losses(x)
        e = torch.autograd.grad(kl / 64 + like, list(self.encoder.parameters()), retain_graph=True)
        g = torch.autograd.grad(self.gamma * like - (1 - self.gamma) * gan, list(self.decoder.parameters()), retain_graph=True)
        d = torch.autograd.grad(gan, list(self.discriminator.parameters()))
        for module, grads, optimizer in ((self.encoder, e, self.opt_e), (self.decoder, g, self.opt_g), (self.discriminator, d, self.opt_d)):
            assign(module, grads)
            nn.utils.clip_grad_norm_(module.parameters(), 5.0)
            optimizer.step()
        return torch.stack([gan, like, kl]).detach()


def main():
    torch.manual_seed(0)
    x = torch.tensor(load_digits().data, dtype=torch.float32) / 16
    loader = DataLoader(TensorDataset(x), batch_size=64, shuffle=True)
    trainer = Trainer()
    for epoch in range(3):
        total = torch.zeros(3)
        for (batch,) in loader:
            total += trainer.step(batch)
        for scheduler in trainer.schedulers:
            scheduler.step()
        print("epoch", epoch, "gan like kl", (total / len(loader)).tolist())


main()
