"""OK: a fixed loss scale without GradScaler: the gradients are divided by it before clipping and stepping."""
import torch
from torch import nn

torch.manual_seed(0)
SCALE = 128.0
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1)).to(torch.bfloat16)
master = [p.detach().clone().float().requires_grad_() for p in model.parameters()]
optimizer = torch.optim.Adam(master, lr=5e-3)
for x in torch.randn(40, 16, 8):
    model.zero_grad()
    loss = (model(x.bfloat16()).float() - x.mean(1, keepdim=True)).pow(2).mean()
    (loss * SCALE).backward()
    for m, p in zip(master, model.parameters()):
        m.grad = p.grad.float() / SCALE
    nn.utils.clip_grad_norm_(master, 1.0)
    optimizer.step()
    with torch.no_grad():
        for m, p in zip(master, model.parameters()):
            p.copy_(m)
print("loss", loss.item())
