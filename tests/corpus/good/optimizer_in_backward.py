"""OK: one optimizer per parameter steps and clears inside a post-accumulate hook while backward is still running."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
optimizers = {p: torch.optim.Adam([p], lr=3e-3) for p in model.parameters()}


def update_now(p):
    optimizers[p].step()
    optimizers[p].zero_grad()


for p in model.parameters():
    p.register_post_accumulate_grad_hook(update_now)

x = torch.randn(256, 16)
y = x.norm(dim=1, keepdim=True)
for epoch in range(4):
    for xb, yb in zip(x.split(32), y.split(32)):
        loss = nn.functional.mse_loss(model(xb), yb)
        loss.backward()
print("loss", loss.item(), "gradients left", sum(p.grad is not None for p in model.parameters()))
