"""OK: a clip by hand after unscale_()."""
import torch
from torch import nn
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=4096.0)
for it in range(8):
    opt.zero_grad()
    scaler.scale(net(torch.randn(4, 4)).square().mean() * 10).backward()
    scaler.unscale_(opt)
    total = torch.sqrt(sum(p.grad.square().sum() for p in net.parameters()))
    coef = 1.0 / (total + 1e-6)
    if coef < 1:
        for p in net.parameters():
            p.grad.mul_(coef)
    scaler.step(opt)
    scaler.update()
