"""OK: a compiled model is trained by an optimizer built from the original's parameters, which are the same objects."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
fast = torch.compile(model, backend="aot_eager")
for epoch in range(2):
    for x in torch.randn(10, 16, 8):
        optimizer.zero_grad()
        loss = (fast(x) - x.sum(1, keepdim=True)).pow(2).mean()
        loss.backward()
        optimizer.step()
print("loss", loss.item())
