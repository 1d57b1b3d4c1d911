# codes: GL301
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 1))
x = torch.randn(128, 10)
y = x @ torch.randn(10, 1)
loader = DataLoader(TensorDataset(x, y), batch_size=32)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
loss_fn = nn.MSELoss()

for epoch in range(10):
    for inputs, targets in loader:
        optimizer.zero_grad()
        loss = loss_fn(model(inputs), targets)
        scaler.scale(loss).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()

with torch.no_grad():
    print(f"loss after {epoch + 1} epochs: {loss_fn(model(x), y).item():.4f}")
