"""OK: a step is skipped when the gradient norm is far above its running mean; the gradients are cleared either way."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(6, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
mean_norm, skipped = None, 0
for i in range(80):
    x = torch.randn(16, 6)
    y = x.sum(1, keepdim=True)
    if i % 20 == 15:
        y = y * 1000
    optimizer.zero_grad()
    loss = (model(x) - y).pow(2).mean()
    loss.backward()
    norm = torch.nn.utils.get_total_norm([p.grad for p in model.parameters()]).item()
    if mean_norm is not None and norm > 10 * mean_norm:
        skipped += 1
        continue
    mean_norm = norm if mean_norm is None else 0.9 * mean_norm + 0.1 * norm
    optimizer.step()
print("skipped", skipped, "weights", model.weight.tolist())
