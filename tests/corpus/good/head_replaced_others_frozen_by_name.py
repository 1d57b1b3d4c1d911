"""OK: the head is replaced before the optimizer is built, all else is frozen by name."""
import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 10))
model[2] = nn.Linear(8, 2)
for n, p in model.named_parameters():
    if not n.startswith("2"):
        p.requires_grad = False
opt = torch.optim.SGD(model[2].parameters(), lr=0.1)
for _ in range(6):
    opt.zero_grad()
    nn.functional.cross_entropy(model(torch.randn(4, 4)), torch.randint(0, 2, (4,))).backward()
    opt.step()
