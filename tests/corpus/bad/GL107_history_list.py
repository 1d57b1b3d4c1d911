"""BUG: the trainer appends the loss with its graph to a history it keeps for the whole run."""
import torch
from torch import nn


class VAE(nn.Module):
    def __init__(self, width=10, latent=3):
        super().__init__()
        self.encode = nn.Linear(width, 2 * latent)
        self.decode = nn.Linear(latent, width)

    def elbo(self, x):
        mean, logvar = self.encode(x).chunk(2, dim=1)
        z = mean + torch.randn_like(mean) * (0.5 * logvar).exp()
        reconstruction = (self.decode(z) - x).pow(2).sum(1)
        kl = 0.5 * (mean.pow(2) + logvar.exp() - 1 - logvar).sum(1)
        return (reconstruction + kl).mean()


class VAETrainer:
    def __init__(self, vae):
        self.vae = vae
        self.opt = torch.optim.Adam(vae.parameters(), lr=5e-3)
        self.history = {"train": []}

    def fit(self, rows, epochs):
        for _ in range(epochs):
            for batch in rows[torch.randperm(len(rows))].split(25):
                self.opt.zero_grad()
                loss = self.vae.elbo(batch)
                loss.backward()
                self.opt.step()
                self.history["train"].append(loss)  # expect: GL107
        return self

    def summary(self):
        return sum(self.history["train"][-10:]) / 10


torch.manual_seed(88)
trainer = VAETrainer(VAE()).fit(torch.randn(200, 10), epochs=4)
print("mean of the last ten", trainer.summary().item())
