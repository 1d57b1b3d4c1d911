"""OK: the backbone runs under no_grad, its parameters still ask for gradients but never receive one; only the head is optimised."""
import torch
from torch import nn

torch.manual_seed(0)
backbone = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten())
head = nn.Linear(32, 2)
optimizer = torch.optim.Adam(head.parameters(), lr=1e-2)
images = torch.rand(80, 1, 10, 10)
labels = (images.mean((1, 2, 3)) > 0.5).long()
backbone.eval()
for epoch in range(3):
    for x, y in zip(images.split(20), labels.split(20)):
        with torch.no_grad():
            z = backbone(x)
        loss = nn.functional.cross_entropy(head(z), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print("loss", loss.item())
