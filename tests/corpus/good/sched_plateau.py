"""OK: ReduceLROnPlateau is fed the validation loss once per epoch, after that epoch's steps."""
import torch
from torch import nn
from torch.optim.lr_scheduler import ReduceLROnPlateau

torch.manual_seed(0)
x, y = torch.randn(200, 4), torch.randn(200, 1)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
scheduler = ReduceLROnPlateau(optimizer, mode="min", factor=0.5, patience=1)


def validate():
    model.eval()
    total = 0.0
    with torch.no_grad():
        for xb, yb in zip(x[150:].split(25), y[150:].split(25)):
            total += nn.functional.mse_loss(model(xb), yb, reduction="sum")
    model.train()
    return total / 50


rates = []
for epoch in range(10):
    for xb, yb in zip(x[:150].split(30), y[:150].split(30)):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(xb), yb).backward()
        optimizer.step()
    scheduler.step(validate())
    rates.append(optimizer.param_groups[0]["lr"])
print(rates)
