"""OK: settings in a SimpleNamespace, a disabled scaler, a flushed tail."""
import torch
from torch import nn
from types import SimpleNamespace
cfg = SimpleNamespace(accum=4, clip=1.0, amp=False, epochs=2)
data = [(torch.randn(4, 3), torch.randn(4, 1)) for _ in range(10)]
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", enabled=cfg.amp)
for epoch in range(cfg.epochs):
    for i, (x, y) in enumerate(data):
        loss = nn.functional.mse_loss(net(x), y) / cfg.accum
        scaler.scale(loss).backward()
        if (i + 1) % cfg.accum == 0 or i == len(data) - 1:
            if cfg.clip:
                scaler.unscale_(opt)
                nn.utils.clip_grad_norm_(net.parameters(), cfg.clip)
            scaler.step(opt)
            scaler.update()
            opt.zero_grad()
