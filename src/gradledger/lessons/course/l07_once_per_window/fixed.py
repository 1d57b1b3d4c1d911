import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 1))
x = torch.randn(128, 10)
y = x @ torch.randn(10, 1)
loader = DataLoader(TensorDataset(x, y), batch_size=8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loss_fn = nn.MSELoss()
accumulate = 4

for epoch in range(10):
    for i, (inputs, targets) in enumerate(loader):
        loss = loss_fn(model(inputs), targets) / accumulate
        loss.backward()
        if (i + 1) % accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()

with torch.no_grad():
    print(f"loss after {epoch + 1} epochs: {loss_fn(model(x), y).item():.4f}")
