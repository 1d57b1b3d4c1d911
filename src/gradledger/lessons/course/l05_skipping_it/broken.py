# codes: GL101
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 24), nn.Tanh(), nn.Linear(24, 3))
x = torch.randn(256, 10)
y = (x @ torch.randn(10, 3)).argmax(1)
loader = DataLoader(TensorDataset(x, y), batch_size=32)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loss_fn = nn.CrossEntropyLoss()

for epoch in range(10):
    for inputs, targets in loader:
        loss = loss_fn(model(inputs), targets)
        loss.backward()
        optimizer.step()

with torch.no_grad():
    print(f"loss after {epoch + 1} epochs: {loss_fn(model(x), y).item():.4f}")
