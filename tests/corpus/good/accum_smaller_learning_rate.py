"""OK: the summed window is normalised by the learning rate, which is set to base / N for plain SGD: the same update."""
import torch
from torch import nn

torch.manual_seed(0)
batch_size, subdivisions, base_lr = 32, 4, 0.08
model = nn.Linear(5, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=base_lr / subdivisions)
truth = torch.randn(5, 1)
mini = batch_size // subdivisions
for it in range(30):
    x = torch.randn(batch_size, 5)
    for s in range(subdivisions):
        part = x[s * mini:(s + 1) * mini]
        loss = (model(part) - part @ truth).pow(2).mean()
        loss.backward()
    optimizer.step()
    optimizer.zero_grad()
print("loss", loss.item())
