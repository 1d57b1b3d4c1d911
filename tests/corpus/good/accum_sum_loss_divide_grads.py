"""OK: sum-reduced losses of ragged batches are accumulated and the gradients divided once by the number of samples before the step."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 12), nn.ReLU(), nn.Linear(12, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
sizes = [5, 9, 2, 16, 7, 1, 12, 8]

for epoch in range(4):
    samples = 0
    optimizer.zero_grad()
    for n, size in enumerate(sizes, 1):
        x = torch.randn(size, 4)
        loss = nn.functional.mse_loss(model(x), x.amin(1, keepdim=True), reduction="sum")
        loss.backward()
        samples += size
        if n % 4 == 0:
            for p in model.parameters():
                p.grad /= samples
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            samples = 0
print("loss", loss.item() / sizes[-1])
