"""BUG: embed() is decorated with no_grad, so only the temperature gets a gradient and the encoder's step is empty."""
import torch
import torch.nn.functional as F
from torch import nn


class Contrastive:
    def __init__(self):
        self.encoder = nn.Sequential(nn.Linear(14, 32), nn.ReLU(), nn.Linear(32, 8))
        self.log_temperature = nn.Parameter(torch.tensor(0.0))
        self.encoder_opt = torch.optim.AdamW(self.encoder.parameters(), lr=1e-3)
        self.temperature_opt = torch.optim.SGD([self.log_temperature], lr=1e-2)

    @torch.no_grad()
    def embed(self, x):
        return F.normalize(self.encoder(x), dim=1)

    def info_nce(self, x):
        a = self.embed(x + 0.1 * torch.randn_like(x))
        b = self.embed(x + 0.1 * torch.randn_like(x))
        logits = a @ b.T / self.log_temperature.exp()
        return F.cross_entropy(logits, torch.arange(len(x)))

    def update(self, x):
        self.encoder_opt.zero_grad()
        self.temperature_opt.zero_grad()
        loss = self.info_nce(x)
        loss.backward()
        self.encoder_opt.step()  # expect: GL106
        self.temperature_opt.step()
        return loss.item()


torch.manual_seed(61)
learner = Contrastive()
views = torch.randn(96, 14)
for epoch in range(3):
    losses = [learner.update(batch) for batch in views[torch.randperm(96)].split(16)]
    print(epoch, sum(losses) / len(losses))
