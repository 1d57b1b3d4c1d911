"""OK: three parameter groups with their own rate and decay; a group's scheduler factor of zero keeps it still at first, on purpose."""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential()
net.add_module("low", nn.Linear(6, 12))
net.add_module("act", nn.ReLU())
net.add_module("mid", nn.Linear(12, 12))
net.add_module("act2", nn.ReLU())
net.add_module("top", nn.Linear(12, 1))

decay, no_decay, low = [], [], []
for name, p in net.named_parameters():
    (low if name.startswith("low") else no_decay if p.ndim == 1 else decay).append(p)
optimizer = torch.optim.AdamW([
    {"params": decay, "weight_decay": 0.1},
    {"params": no_decay, "weight_decay": 0.0},
    {"params": low, "lr": 1e-4},
], lr=1e-2)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, [lambda e: 0.9 ** e, lambda e: 1.0, lambda e: float(e >= 2)])
data = torch.randn(90, 6)
for epoch in range(4):
    for x in data.split(30):
        optimizer.zero_grad(set_to_none=True)
        loss = (net(x) - x.median(1, keepdim=True).values).pow(2).mean()
        loss.backward()
        optimizer.step()
    schedule.step()
print(schedule.get_last_lr(), loss.item())
