"""OK: a fused optimizer unscales inside its own step and ignores it by itself on overflow; scaler.step() hands it the scale."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, fused=True)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0 ** 127, growth_interval=1000)
ignored = 0
for x in torch.randn(50, 16, 6):
    before = model[0].weight.detach().clone()
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), 5 * x.sum(1, keepdim=True))
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    ignored += torch.equal(before, model[0].weight)
assert ignored > 0 and all(p.isfinite().all() for p in model.parameters())
print("ignored", ignored, "loss", loss.item())
