"""OK: equal micro-batches divided by the window, stepped at (i+1) % n or at the loader's end; 24 batches fill 6 windows exactly."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(192, 6)
loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=8, shuffle=True)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
accumulation_steps = 4

optimizer.zero_grad()
for epoch in range(3):
    for i, (inputs, targets) in enumerate(loader):
        loss = nn.functional.mse_loss(net(inputs), targets)
        loss = loss / accumulation_steps
        loss.backward()
        if (i + 1) % accumulation_steps == 0 or i + 1 == len(loader):
            optimizer.step()
            optimizer.zero_grad()
print("loss", loss.item() * accumulation_steps)
