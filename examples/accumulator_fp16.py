"""window_fp16.py with an Accumulator: scaling, unscaling, clipping and clearing are its business."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import gradledger

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
x = torch.randn(96, 10)
y = x.sin().sum(1, keepdim=True)
loader = DataLoader(TensorDataset(x, y), batch_size=8)

acc = gradledger.Accumulator(model, optimizer, every=4, precision="fp16", scaler=scaler, clip_norm=1.0)
for epoch in range(3):
    for inputs, targets in acc.batches(loader):
        with acc.precision():
            loss = nn.functional.mse_loss(model(inputs), targets)
        update = acc.backward(loss, count=len(inputs))
    print(f"epoch {epoch}: norm {update.grad_norm:.3f}, scale {scaler.get_scale():g}")
