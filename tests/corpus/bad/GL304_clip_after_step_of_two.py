"""BUG: the first of two networks is clipped after its own step; that another step follows makes it no better."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(35)
x_all = torch.randn(30, 6)
y_all = x_all @ torch.randn(6, 2)
loader = DataLoader(TensorDataset(x_all, y_all), batch_size=6)
left, right = nn.Linear(6, 2), nn.Linear(6, 2)
left_opt = torch.optim.SGD(left.parameters(), lr=0.01)
right_opt = torch.optim.SGD(right.parameters(), lr=0.01)

for epoch in range(3):
    for x, y in loader:
        left_opt.zero_grad()
        nn.functional.mse_loss(left(x), y).backward()
        left_opt.step()
        nn.utils.clip_grad_norm_(left.parameters(), 0.05)  # expect: GL304
        right_opt.zero_grad()
        loss = nn.functional.mse_loss(right(x), y)
        loss.backward()
        right_opt.step()
    print("epoch", epoch, loss.item())
