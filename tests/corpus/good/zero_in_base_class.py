"""OK: the base class clears and steps around a hook method, the subclass only writes the backward."""
import abc

import torch
from torch import nn


class Base(abc.ABC):
    def __init__(self):
        self.net = self.build()
        self.optim = torch.optim.NAdam(self.net.parameters(), lr=5e-3)
        self.seen = 0

    @abc.abstractmethod
    def build(self): ...

    @abc.abstractmethod
    def learn(self, batch): ...

    def reset_grad(self):
        self.optim.zero_grad()

    def tick(self, batch):
        self.reset_grad()
        out = self.learn(batch)
        self.optim.step()
        self.seen += len(batch)
        return out


class Denoiser(Base):
    def build(self):
        return nn.Sequential(nn.Linear(10, 32), nn.SiLU(), nn.Linear(32, 10))

    def learn(self, batch):
        noisy = batch + 0.1 * torch.randn_like(batch)
        loss = (self.net(noisy) - batch).pow(2).mean()
        loss.backward()
        return loss.item()


class ClippedDenoiser(Denoiser):
    def learn(self, batch):
        value = super().learn(batch)
        nn.utils.clip_grad_norm_(self.net.parameters(), 0.5)
        return value


torch.manual_seed(9)
stream = torch.randn(40, 24, 10)
for kind in (Denoiser, ClippedDenoiser):
    worker = kind()
    losses = [worker.tick(batch) for batch in stream]
    print(kind.__name__, worker.seen, losses[0], losses[-1])
