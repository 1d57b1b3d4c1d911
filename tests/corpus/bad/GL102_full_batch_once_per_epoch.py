"""BUG: a whole epoch is accumulated, and thrown away right before its only step."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(38)
x_all = torch.randn(30, 6)
y_all = x_all @ torch.randn(6, 2)
loader = DataLoader(TensorDataset(x_all, y_all), batch_size=6)
model = nn.Linear(6, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

for epoch in range(4):
    for x, y in loader:
        loss = nn.functional.mse_loss(model(x), y) / len(loader)
        loss.backward()
    optimizer.zero_grad()  # expect: GL102
    optimizer.step()
    print("epoch", epoch, loss.item())
