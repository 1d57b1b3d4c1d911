"""OK: a callable scaler steps once per window."""
import torch
from torch import nn


class NativeScaler:
    def __init__(self):
        self._scaler = torch.amp.GradScaler("cpu", init_scale=64.0)

    def __call__(self, loss, optimizer, clip_grad=None, parameters=None, need_update=True):
        self._scaler.scale(loss).backward()
        if need_update:
            if clip_grad is not None:
                self._scaler.unscale_(optimizer)
                nn.utils.clip_grad_norm_(parameters, clip_grad)
            self._scaler.step(optimizer)
            self._scaler.update()


net = nn.Linear(3, 1)
opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
loss_scaler = NativeScaler()
accum = 2
for epoch in range(2):
    opt.zero_grad()
    for i in range(8):
        loss = net(torch.randn(4, 3)).square().mean() / accum
        need_update = (i + 1) % accum == 0
        loss_scaler(loss, opt, clip_grad=1.0, parameters=net.parameters(), need_update=need_update)
        if need_update:
            opt.zero_grad()
