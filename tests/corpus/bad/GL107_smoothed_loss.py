"""BUG: the exponential moving average of the loss is never detached and chains all iterations' graphs together."""
import torch
from torch import nn

torch.manual_seed(27)
model = nn.Sequential(nn.Linear(3, 16), nn.Sigmoid(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, nesterov=True, momentum=0.8)

smoothed = 0.0
for step in range(60):
    optimizer.zero_grad()
    x = torch.rand(32, 3)
    loss = (model(x) - x.amax(dim=1, keepdim=True)).square().mean()
    loss.backward()
    optimizer.step()
    smoothed = 0.95 * smoothed + 0.05 * loss  # expect: GL107
    if step % 20 == 19:
        print(f"step {step + 1}: {smoothed.item():.5f}")
