"""BUG: the closure scales the loss and optimizer.step(closure) applies the scaled gradients."""
import torch
from torch import nn

torch.manual_seed(150)
model = nn.Sequential(nn.Linear(2, 20), nn.Tanh(), nn.Linear(20, 1))
optimizer = torch.optim.Adamax(model.parameters(), lr=1e-2)
scaler = torch.amp.GradScaler("cpu", init_scale=32.0)


def fit_batch(points, targets):
    def closure():
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = (model(points) - targets).square().mean()
        scaler.scale(loss).backward()
        return loss

    return optimizer.step(closure)  # expect: GL302


for epoch in range(3):
    for _ in range(6):
        points = torch.rand(40, 2)
        loss = fit_batch(points, points.prod(dim=1, keepdim=True))
    print(epoch, loss.item())
