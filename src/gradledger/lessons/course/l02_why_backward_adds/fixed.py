import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
x = torch.randn(64, 5)
y = x.sin().sum(1, keepdim=True)

for step in range(50):
    optimizer.zero_grad()
    loss = (model(x) - y).square().mean()
    total = loss + 0.01 * sum(p.square().sum() for p in model.parameters())
    total.backward()
    optimizer.step()

print(f"loss after {step + 1} steps: {loss.item():.4f}, with the penalty {total.item():.4f}")
