"""A schedule counted in half epochs advances twice at the end of each; an epoch has one window of two."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(5)
loader = DataLoader(TensorDataset(torch.randn(16, 4), torch.randn(16, 1)), batch_size=8)
net = nn.Linear(4, 1)
sgd = torch.optim.SGD(net.parameters(), lr=0.05)
decay = torch.optim.lr_scheduler.ExponentialLR(sgd, gamma=0.95)
for _epoch in range(5):
    for i, (x, y) in enumerate(loader):
        (nn.functional.mse_loss(net(x), y) / 2).backward()
        if (i + 1) % 2 == 0:
            sgd.step()
            sgd.zero_grad()
    decay.step()
    decay.step()
