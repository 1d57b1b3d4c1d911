"""OK: the scheduler moves only when the scaler really stepped; the very first steps overflow and are skipped with it."""
import torch
from torch import nn


def amp_step(scaler, optimizer, scheduler):
    scale = scaler.get_scale()
    scaler.step(optimizer)
    scaler.update()
    stepped = scaler.get_scale() >= scale
    if stepped:
        scheduler.step()
    return stepped


torch.manual_seed(0)
model = nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=40)
scaler = torch.amp.GradScaler(device="cpu", init_scale=2.0 ** 126, growth_interval=1000)
done = 0
for it in range(40):
    x = torch.randn(32, 8)
    optimizer.zero_grad()
    loss = (model(x) - 8 * x.sum(1, keepdim=True)).pow(2).mean()
    scaler.scale(loss).backward()
    done += amp_step(scaler, optimizer, scheduler)
print("real steps", done, "scheduler", scheduler.last_epoch, "loss", loss.item())
