"""OK: one micro-batch from each data source per update, weighted 0.5, 0.3 and 0.2: a weighted sum, not an unscaled window."""
import torch
from torch import nn

torch.manual_seed(0)
weights = {"web": 0.5, "books": 0.3, "code": 0.2}
shift = {"web": 0.0, "books": 1.0, "code": -1.0}
model = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for update in range(30):
    optimizer.zero_grad()
    losses = {}
    for source, weight in weights.items():
        x = torch.randn(12, 3) + shift[source]
        losses[source] = nn.functional.mse_loss(model(x), x.pow(2).sum(1, keepdim=True))
        (weight * losses[source]).backward()
    optimizer.step()
    losses = {k: v.item() for k, v in losses.items()}
print(losses)
