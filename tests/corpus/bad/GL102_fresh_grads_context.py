"""BUG: the context manager clears the gradients when its block ends, and the step comes after the block."""
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


@dataclass
class Config:
    epochs: int = 2
    batch_size: int = 15
    lr: float = 3e-3
    hidden: tuple = field(default=(32, 8))
    seed: int = 2024


class Tabular(Dataset):
    def __init__(self, n):
        g = torch.Generator().manual_seed(77)
        self.num = torch.randn(n, 5, generator=g)
        self.cat = torch.randint(0, 4, (n,), generator=g)
        self.price = self.num.sum(1) + self.cat.float()

    def __len__(self):
        return len(self.price)

    def __getitem__(self, i):
        return {"num": self.num[i], "cat": self.cat[i], "price": self.price[i]}


class TabularNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.emb = nn.Embedding(4, 3)
        sizes = (8,) + cfg.hidden
        blocks = [nn.Sequential(nn.Linear(a, b), nn.ReLU()) for a, b in zip(sizes, sizes[1:])]
        self.mlp = nn.Sequential(*blocks, nn.Linear(sizes[-1], 1))

    def forward(self, num, cat):
        return self.mlp(torch.cat([num, self.emb(cat)], 1)).squeeze(1)


@contextmanager
def fresh_grads(module):
    module.train()
    yield
    for p in module.parameters():
        p.grad = None  # expect: GL102


cfg = Config()
torch.manual_seed(cfg.seed)
net = TabularNet(cfg)
opt = torch.optim.AdamW(net.parameters(), lr=cfg.lr)
dl = DataLoader(Tabular(150), cfg.batch_size, shuffle=True)
for epoch in range(cfg.epochs):
    running = 0.0
    for row in dl:
        with fresh_grads(net):  # expect: GL102
            loss = nn.functional.smooth_l1_loss(net(row["num"], row["cat"]), row["price"])
            loss.backward()
        opt.step()
        running += loss.item()
    print(epoch, running / len(dl))
