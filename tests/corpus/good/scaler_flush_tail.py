"""OK: scaled accumulation over ragged epochs: the leftover window is unscaled, rescaled to its size, clipped and stepped after the loop."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
scaler = torch.amp.GradScaler("cpu", init_scale=256.0)
N = 4


def finish(inside):
    scaler.unscale_(optimizer)
    if inside != N:
        for p in model.parameters():
            p.grad.mul_(N / inside)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad(set_to_none=True)


for epoch in range(3):
    inside = 0
    for x in torch.randn(10, 8, 5):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = nn.functional.mse_loss(model(x), x.sum(1, keepdim=True)) / N
        scaler.scale(loss).backward()
        inside += 1
        if inside == N:
            finish(inside)
            inside = 0
    if inside:
        finish(inside)
print("loss", loss.item() * N)
