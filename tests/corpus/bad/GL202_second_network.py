"""BUG: five batches in windows of two, for two networks: the rest of each epoch leaks into the next for both."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(27)
x_all = torch.randn(30, 6)
y_all = x_all @ torch.randn(6, 2)
loader = DataLoader(TensorDataset(x_all, y_all), batch_size=6)
left, right = nn.Linear(6, 2), nn.Linear(6, 2)
left_opt = torch.optim.SGD(left.parameters(), lr=0.01)
right_opt = torch.optim.SGD(right.parameters(), lr=0.01)

for epoch in range(4):
    for i, (x, y) in enumerate(loader):
        (nn.functional.mse_loss(left(x), y) / 2).backward()
        (nn.functional.l1_loss(right(x), y) / 2).backward()
        if (i + 1) % 2 == 0:
            left_opt.step()  # expect: GL202
            left_opt.zero_grad()
            right_opt.step()  # expect: GL202
            right_opt.zero_grad()
    print("epoch", epoch)
