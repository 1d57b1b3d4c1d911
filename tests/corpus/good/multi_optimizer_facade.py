"""OK: a facade object forwards zero_grad and step to several optimizers that share one loss."""
import torch
from torch import nn


class MultipleOptimizer:
    def __init__(self, **parts):
        self.parts = parts

    def zero_grad(self):
        for part in self.parts.values():
            part.zero_grad(set_to_none=True)

    def step(self):
        for part in self.parts.values():
            part.step()


torch.manual_seed(0)
embed = nn.Embedding(50, 8, sparse=True)
dense = nn.Linear(8, 1)
op = MultipleOptimizer(sparse=torch.optim.SparseAdam(list(embed.parameters()), lr=1e-2),
                       dense=torch.optim.Adam(dense.parameters(), lr=1e-2))

tokens = torch.randint(0, 50, (200, 5))
score = (tokens < 25).float().mean(1, keepdim=True)
for epoch in range(5):
    for ids, want in zip(tokens.split(40), score.split(40)):
        op.zero_grad()
        loss = (dense(embed(ids).mean(1)) - want).pow(2).mean()
        loss.backward()
        op.step()
print("loss", loss.item())
