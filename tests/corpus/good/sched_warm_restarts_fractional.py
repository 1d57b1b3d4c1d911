"""OK: CosineAnnealingWarmRestarts is given a fractional epoch after each step, as its documentation shows."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=2, T_mult=2)
batches = torch.randn(10, 12, 3)
iters = len(batches)
trace = []
for epoch in range(6):
    for i, sample in enumerate(batches):
        optimizer.zero_grad()
        loss = (model(sample) - sample.mean(1, keepdim=True)).pow(2).mean()
        loss.backward()
        optimizer.step()
        scheduler.step(epoch + i / iters)
    trace.append(round(optimizer.param_groups[0]["lr"], 4))
print(trace)
