"""BUG: five mean losses are summed into the gradients of each update because the loss is never divided by WINDOW."""
import torch
from torch import nn

WINDOW = 5
torch.manual_seed(29)
frames = torch.randn(300, 8)
angles = torch.atan2(frames[:, 0], frames[:, 1])
targets = torch.stack([angles.sin(), angles.cos()], dim=1)

net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
pending = 0


def flush():
    global pending
    opt.step()
    for p in net.parameters():
        p.grad = None
    pending = 0


for epoch in range(2):
    feed = iter(torch.randperm(300).split(15))
    while (pick := next(feed, None)) is not None:
        cosine = nn.functional.cosine_similarity(net(frames[pick]), targets[pick])
        loss = (1 - cosine).mean()  # expect: GL201
        loss.backward()  # expect: GL201
        pending += 1
        if pending == WINDOW:
            flush()
    print("epoch", epoch, loss.item())
