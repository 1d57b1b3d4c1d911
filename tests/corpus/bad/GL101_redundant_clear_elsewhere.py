"""BUG: the first network is never cleared; that the second is cleared once too often is no fault."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(38)
x_all = torch.randn(30, 6)
y_all = x_all @ torch.randn(6, 2)
loader = DataLoader(TensorDataset(x_all, y_all), batch_size=6)
left, right = nn.Linear(6, 2), nn.Linear(6, 2)
left_opt = torch.optim.SGD(left.parameters(), lr=0.01)
right_opt = torch.optim.SGD(right.parameters(), lr=0.01)

for epoch in range(3):
    right_opt.zero_grad()
    for x, y in loader:
        nn.functional.mse_loss(left(x), y).backward()  # expect: GL101
        left_opt.step()
        nn.functional.mse_loss(right(x), y).backward()
        right_opt.step()
        right_opt.zero_grad()
    print("epoch", epoch)
