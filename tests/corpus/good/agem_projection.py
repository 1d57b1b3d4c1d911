"""OK: A-GEM: the memory gradient is taken, copied and cleared, then the task gradient is projected in place and stepped."""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 12), nn.ReLU(), nn.Linear(12, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
memory = []


def flat():
    return torch.cat([p.grad.flatten() for p in net.parameters()])


def write(vector):
    offset = 0
    for p in net.parameters():
        p.grad.copy_(vector[offset:offset + p.numel()].view_as(p))
        offset += p.numel()


projected = 0
for task in range(3):
    sign = (-1.0) ** task
    for x in torch.randn(20, 16, 4):
        y = sign * x[:, :1] + x[:, 1:2]
        reference = None
        if memory:
            mx, my = (torch.cat(t) for t in zip(*memory))
            opt.zero_grad()
            nn.functional.mse_loss(net(mx), my).backward()
            reference = flat().clone()
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        if reference is not None and (dot := flat() @ reference) < 0:
            write(flat() - dot / (reference @ reference) * reference)
            projected += 1
        opt.step()
    memory.append((x, y))
print("projected", projected, "loss", loss.item())
