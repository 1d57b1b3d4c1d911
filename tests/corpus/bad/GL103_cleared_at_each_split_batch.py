"""Each batch is split to fit into memory; the update comes once per epoch, the clearing at every batch."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
loader = DataLoader(TensorDataset(torch.randn(48, 6), torch.randn(48, 2)), batch_size=12)
net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 2))
sgd = torch.optim.SGD(net.parameters(), lr=0.05)
parts = 3
for _epoch in range(4):
    for x, y in loader:
        sgd.zero_grad()  # expect: GL103
        for small_x, small_y in zip(x.chunk(parts), y.chunk(parts), strict=True):
            loss = nn.functional.mse_loss(net(small_x), small_y) / (parts * len(loader))
            loss.backward()
    sgd.step()
