import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 16), nn.GroupNorm(4, 16), nn.Tanh(), nn.Linear(16, 1))
x = torch.randn(128, 10)
y = x.sin().sum(1, keepdim=True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
loss_fn = nn.MSELoss()

for epoch in range(10):
    for batch, wanted in zip(x.split(32), y.split(32), strict=True):
        optimizer.zero_grad()
        total = 0.0
        for inputs, targets in zip(batch.split(8), wanted.split(8), strict=True):
            loss = loss_fn(model(inputs), targets) / 4
            loss.backward()
            total += loss.item()
        optimizer.step()

with torch.no_grad():
    print(f"loss after {epoch + 1} epochs: {loss_fn(model(x), y).item():.4f}")
