# codes: GL104
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
x = torch.randn(64, 6)
y = x[:, :1] - x[:, 1:2] * x[:, 2:3]

for step in range(40):
    for p in model.parameters():
        p.grad.zero_()
    loss = (model(x) - y).square().mean()
    loss.backward()
    optimizer.step()

print(f"loss after {step + 1} steps: {loss.item():.4f}")
