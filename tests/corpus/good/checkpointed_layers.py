"""OK: activation checkpointing, reentrant and not, runs parts of the forward again and nested backward calls inside one backward."""
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential


class Deep(nn.Module):
    def __init__(self, mode):
        super().__init__()
        self.mode = mode
        self.first = nn.Linear(6, 16)
        self.blocks = nn.Sequential(*[nn.Sequential(nn.Linear(16, 16), nn.Tanh()) for _ in range(4)])
        self.last = nn.Linear(16, 1)

    def forward(self, x):
        h = self.first(x)
        if self.mode == "sequential":
            h = checkpoint_sequential(self.blocks, 2, h, use_reentrant=False)
        else:
            for block in self.blocks:
                h = checkpoint(block, h, use_reentrant=self.mode == "reentrant")
        return self.last(h)


for mode in ("reentrant", "plain", "sequential"):
    torch.manual_seed(0)
    net = Deep(mode)
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    for step in range(20):
        x = torch.randn(16, 6)
        opt.zero_grad()
        loss = (net(x) - x.mean(1, keepdim=True)).pow(2).mean()
        loss.backward()
        opt.step()
    print(mode, loss.item())
