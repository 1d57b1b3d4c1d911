"""BUG: the guard is true at i = 0, and five batches never make two full windows in a row."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(24)
x_all = torch.randn(30, 6)
y_all = x_all @ torch.randn(6, 2)
loader = DataLoader(TensorDataset(x_all, y_all), batch_size=6)
model = nn.Linear(6, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
accumulate = 3

for epoch in range(2):
    for i, (x, y) in enumerate(loader):
        loss = nn.functional.mse_loss(model(x), y) / accumulate
        loss.backward()
        if i % accumulate == 0:
            optimizer.step()  # expect: GL204
            optimizer.zero_grad()
    print("epoch", epoch, loss.item())
