"""OK: a hand-written SGD subtracts in place under no_grad and then drops every gradient."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 20), nn.ReLU(), nn.Linear(20, 1))
lr = 0.05
points = torch.randn(200, 2)
radius = points.norm(dim=1, keepdim=True)

for epoch in range(10):
    for xb, yb in zip(points.chunk(5), radius.chunk(5)):
        loss = nn.functional.mse_loss(model(xb), yb)
        loss.backward()
        with torch.no_grad():
            for p in model.parameters():
                p -= lr * p.grad
                p.grad = None
    lr *= 0.95

print(f"loss {loss.item():.4f}")
