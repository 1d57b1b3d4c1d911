"""OK: free adversarial training: one backward per replay gives both the weight gradient, stepped at once, and the noise gradient."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 20), nn.ReLU(), nn.Linear(20, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
data = torch.randn(160, 5)
label = (data.sum(1) > 0).long()
eps, m = 0.1, 4
delta = torch.zeros(32, 5)

for epoch in range(2):
    for start in range(0, 160, 32):
        x, y = data[start:start + 32], label[start:start + 32]
        for replay in range(m):
            noise = delta.clone().requires_grad_(True)
            loss = nn.functional.cross_entropy(model(x + noise), y)
            optimizer.zero_grad()
            loss.backward()
            delta = (delta + eps * noise.grad.sign()).clamp_(-eps, eps)
            optimizer.step()
print("loss", loss.item())
