"""OK: layers are dropped at random, so some parameters have no gradient in some iterations; set-to-none clearing keeps them out."""
import random

import torch
from torch import nn


class Drop(nn.Module):
    def __init__(self, width, depth, keep):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Sequential(nn.Linear(width, width), nn.ReLU()) for _ in range(depth)])
        self.out = nn.Linear(width, 1)
        self.keep = keep

    def forward(self, x):
        for block in self.blocks:
            if not self.training or random.random() < self.keep:
                x = x + block(x)
        return self.out(x)


torch.manual_seed(0)
random.seed(1)
net = Drop(8, 6, keep=0.5)
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
missing = 0
for step in range(60):
    x = torch.randn(16, 8)
    opt.zero_grad(set_to_none=True)
    loss = (net(x) - x.norm(dim=1, keepdim=True)).pow(2).mean()
    loss.backward()
    missing += sum(p.grad is None for p in net.parameters())
    opt.step()
print("parameters skipped", missing, "loss", loss.item())
