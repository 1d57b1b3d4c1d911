"""BUG: training_step() of the subclass already steps, and fit() of the base class steps once more."""
from abc import ABC, abstractmethod

import torch
from torch import nn


class Fitter(ABC):
    optimizer: torch.optim.Optimizer

    @abstractmethod
    def training_step(self, batch) -> torch.Tensor: ...

    def fit(self, batches, epochs):
        for epoch in range(epochs):
            for batch in batches:
                self.optimizer.zero_grad()
                loss = self.training_step(batch)
                self.optimizer.step()  # expect: GL105
            print("epoch", epoch, float(loss))


class RankingFitter(Fitter):
    def __init__(self, users, items, dim=8):
        self.users = nn.Embedding(users, dim)
        self.items = nn.Embedding(items, dim)
        self.optimizer = torch.optim.SGD(
            [{"params": self.users.parameters()}, {"params": self.items.parameters(), "lr": 0.5}], lr=0.2
        )

    def training_step(self, batch):
        user, liked, other = batch.unbind(1)
        u = self.users(user)
        margin = (u * (self.items(liked) - self.items(other))).sum(1)
        loss = nn.functional.softplus(-margin).mean()
        loss.backward()
        self.optimizer.step()
        return loss.detach()


torch.manual_seed(26)
triples = torch.stack(
    [torch.randint(0, 20, (160,)), torch.randint(0, 15, (160,)), torch.randint(15, 30, (160,))], dim=1
)
RankingFitter(20, 30).fit(triples.split(20), epochs=3)
