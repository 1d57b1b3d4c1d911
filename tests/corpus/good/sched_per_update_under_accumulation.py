"""OK: the schedule counts optimizer updates and advances next to the step, inside the accumulation guard."""
import torch
from torch import nn
from torch.optim import lr_scheduler

torch.manual_seed(0)
accum, epochs = 4, 3
batches = torch.randn(16, 8, 5)
net = nn.Sequential(nn.Linear(5, 10), nn.GELU(), nn.Linear(10, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
updates = epochs * len(batches) // accum
warm = lr_scheduler.LinearLR(opt, start_factor=0.2, total_iters=3)
cosine = lr_scheduler.CosineAnnealingLR(opt, T_max=updates - 3)
sched = lr_scheduler.SequentialLR(opt, [warm, cosine], milestones=[3])
for epoch in range(epochs):
    for i, x in enumerate(batches):
        loss = (net(x) - x.std(1, keepdim=True)).pow(2).mean() / accum
        loss.backward()
        if (i + 1) % accum == 0:
            opt.step()
            sched.step()
            opt.zero_grad()
print("lr", sched.get_last_lr(), "loss", loss.item() * accum)
