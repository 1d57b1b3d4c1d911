"""OK: two models, losses and optimizers with one scaler: both losses share graphs (retain_graph), unscale_ one, step both, update once."""
import torch
from torch import nn

torch.manual_seed(0)
model0, model1 = nn.Linear(6, 3), nn.Linear(6, 3)
optimizer0 = torch.optim.SGD(model0.parameters(), lr=0.05)
optimizer1 = torch.optim.Adam(model1.parameters(), lr=0.01)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
loss_fn = nn.MSELoss()
for epoch in range(2):
    for x in torch.randn(10, 12, 6):
        target = x[:, :3]
        optimizer0.zero_grad()
        optimizer1.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            out0, out1 = model0(x), model1(x)
            loss0 = loss_fn(2 * out0 + 3 * out1, target)
            loss1 = loss_fn(3 * out0 - 5 * out1, target)
        scaler.scale(loss0).backward(retain_graph=True)
        scaler.scale(loss1).backward()
        scaler.unscale_(optimizer0)
        nn.utils.clip_grad_norm_(model0.parameters(), 1.0)
        scaler.step(optimizer0)
        scaler.step(optimizer1)
        scaler.update()
print(loss0.item(), loss1.item())
