"""OK: `if i % 10 == 0` only prints and `if i % 15 == 0` only evaluates; the optimizer steps in every iteration."""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
check = torch.randn(40, 5)
running = 0.0
for i, x in enumerate(torch.randn(45, 16, 5)):
    loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    running += loss.item()
    if i % 10 == 0:
        norm = sum(p.grad.pow(2).sum() for p in net.parameters()).sqrt()
        print(f"{i:3d} loss {running / 10:.3f} gradient {norm:.3f}")
        running = 0.0
    if i % 15 == 0:
        net.eval()
        with torch.no_grad():
            score = (net(check) - check.sum(1, keepdim=True)).pow(2).mean().item()
        net.train()
print("score", score)
