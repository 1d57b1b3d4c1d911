# codes: GL205 GL307
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 1))
x = torch.randn(256, 10)
y = x.sin().sum(1, keepdim=True)
loader = DataLoader(TensorDataset(x, y), batch_size=8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
accumulate, epochs = 4, 5
updates = epochs * len(loader) // accumulate
scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, total_iters=updates)
loss_fn = nn.MSELoss()

for epoch in range(epochs):
    for i, (inputs, targets) in enumerate(loader):
        loss = loss_fn(model(inputs), targets) / accumulate
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if (i + 1) % accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()
        scheduler.step()

with torch.no_grad():
    print(f"loss after {epoch + 1} epochs: {loss_fn(model(x), y).item():.4f}")
