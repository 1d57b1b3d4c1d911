"""OK: validation computes gradients to log their norm and leaves the model cleared; in training the clear comes first anyway."""
import torch
from torch import nn


def gradient_norm(model, x, y):
    model.zero_grad(set_to_none=True)
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    norm = torch.stack([p.grad.norm() for p in model.parameters()]).norm().item()
    model.zero_grad(set_to_none=True)
    return loss.item(), norm


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 12), nn.ReLU(), nn.Linear(12, 1))
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
xv = torch.randn(50, 3)
log = []
for epoch in range(4):
    for x in torch.randn(8, 16, 3):
        loss = nn.functional.mse_loss(model(x), x.sum(1, keepdim=True))
        opt.zero_grad()
        loss.backward()
        opt.step()
    log.append(gradient_norm(model, xv, xv.sum(1, keepdim=True)))
print(log[0], log[-1])
