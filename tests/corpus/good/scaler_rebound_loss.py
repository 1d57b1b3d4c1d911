"""OK: `loss = scaler.scale(loss)` re-binds the name, so the backward that follows is on the scaled loss."""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 10), nn.ReLU(), nn.Linear(10, 1))
opt = torch.optim.RMSprop(net.parameters(), lr=2e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=128.0, growth_interval=10)


def compute(x):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return (net(x) - x.prod(1, keepdim=True)).pow(2).mean()


log = []
for x in torch.randn(40, 16, 3):
    loss = compute(x)
    log.append(loss.item())
    loss = scaler.scale(loss)
    opt.zero_grad()
    loss.backward()
    scaler.step(opt)
    scaler.update()
print("first", log[0], "last", log[-1], "scale", scaler.get_scale())
