"""A window in fp16: one scale for the whole window; unscale, clip, step, update and zero once at its end."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

ACCUMULATE = 4

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
x = torch.randn(96, 10)
y = x.sin().sum(1, keepdim=True)
loader = DataLoader(TensorDataset(x, y), batch_size=8)

for epoch in range(3):
    for i, (inputs, targets) in enumerate(loader):
        with torch.autocast("cpu", dtype=torch.float16):
            loss = nn.functional.mse_loss(model(inputs), targets) / ACCUMULATE
        scaler.scale(loss).backward()
        if (i + 1) % ACCUMULATE == 0:
            scaler.unscale_(optimizer)
            norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
    print(f"epoch {epoch}: norm {norm.item():.3f}, scale {scaler.get_scale():g}")
