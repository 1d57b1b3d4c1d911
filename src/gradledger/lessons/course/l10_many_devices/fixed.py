from contextlib import nullcontext

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset

# One process is enough to show the loop; torchrun would start several.
dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)

torch.manual_seed(0)
model = nn.Linear(10, 1)
replica = DistributedDataParallel(model)
x = torch.randn(128, 10)
y = x @ torch.randn(10, 1)
loader = DataLoader(TensorDataset(x, y), batch_size=8)
optimizer = torch.optim.SGD(replica.parameters(), lr=0.05)
loss_fn = nn.MSELoss()
accumulate = 4

for epoch in range(5):
    for i, (inputs, targets) in enumerate(loader):
        last = (i + 1) % accumulate == 0
        with nullcontext() if last else replica.no_sync():
            loss = loss_fn(replica(inputs), targets) / accumulate
            loss.backward()
        if last:
            optimizer.step()
            optimizer.zero_grad()

with torch.no_grad():
    print(f"loss after {epoch + 1} epochs: {loss_fn(model(x), y).item():.4f}")
dist.destroy_process_group()
