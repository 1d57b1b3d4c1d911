"""OK: optimizer.step() without gradients before the loop does nothing; it only tells the scheduler that an optimizer step came first."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 6), nn.ReLU(), nn.Linear(6, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, step / 10))

optimizer.zero_grad()
optimizer.step()
scheduler.step()  # the schedule starts at zero, the first real update shall use 1/10

for step in range(40):
    x = torch.randn(16, 6)
    loss = (model(x) - x.mean(1, keepdim=True)).pow(2).mean()
    loss.backward()
    optimizer.step()
    scheduler.step()
    optimizer.zero_grad()
print("lr", scheduler.get_last_lr(), "loss", loss.item())
