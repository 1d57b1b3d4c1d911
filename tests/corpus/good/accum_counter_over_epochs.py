"""OK: the micro-batch counter is never reset, so a window that begins in one epoch ends in the next; 3 x 10 batches make 5 full windows of 6."""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
batches = torch.randn(10, 8, 4)
global_micro = 0
ACCUM = 6
opt.zero_grad()
for epoch in range(3):
    for x in batches[torch.randperm(10)]:
        loss = (net(x) - x.mean(1, keepdim=True)).abs().mean() / ACCUM
        loss.backward()
        global_micro += 1
        if global_micro % ACCUM == 0:
            opt.step()
            opt.zero_grad()
print("updates", global_micro // ACCUM, "loss", loss.item() * ACCUM)
