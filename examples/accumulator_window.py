"""window.py with an Accumulator: uneven micro-batches and the short tail are its business."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import gradledger

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(83, 10)
y = x.sin().sum(1, keepdim=True)
loader = DataLoader(TensorDataset(x, y), batch_size=8)

acc = gradledger.Accumulator(model, optimizer, every=4)
for epoch in range(3):
    for inputs, targets in acc.batches(loader):
        acc.backward(nn.functional.mse_loss(model(inputs), targets), count=len(inputs))
    with torch.no_grad():
        print(f"epoch {epoch}: loss {nn.functional.mse_loss(model(x), y).item():.4f}")
