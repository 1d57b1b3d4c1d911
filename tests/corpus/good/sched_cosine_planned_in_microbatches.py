"""OK: warmup and cosine lengths are given in micro-batches, so the schedule moves with every micro-batch although steps are rarer."""
import math

import torch
from torch import nn

torch.manual_seed(0)
num_epochs, micro_per_epoch, accum = 2, 24, 3
total_micro = num_epochs * micro_per_epoch
warmup_micro = 6


def factor(micro):
    if micro < warmup_micro:
        return (micro + 1) / warmup_micro
    return 0.5 * (1 + math.cos(math.pi * (micro - warmup_micro) / (total_micro - warmup_micro)))


net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
opt = torch.optim.AdamW(net.parameters(), lr=1e-2)
lr_scheduler = torch.optim.lr_scheduler.LambdaLR(opt, factor)
seen = 0
while seen < total_micro:
    x = torch.randn(8, 4)
    loss = nn.functional.cross_entropy(net(x), (x.sum(1) > 0).long())
    (loss / accum).backward()
    seen += 1
    if seen % accum == 0:
        opt.step()
        opt.zero_grad()
    lr_scheduler.step()
print("loss", loss.item(), "lr", lr_scheduler.get_last_lr()[0])
