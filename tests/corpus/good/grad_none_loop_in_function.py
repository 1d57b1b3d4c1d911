"""OK: a helper walks over the parameter groups and sets every .grad to None before the next backward."""
import torch
from torch import nn


def forget_gradients(opt):
    for group in opt.param_groups:
        for p in group["params"]:
            p.grad = None


torch.manual_seed(0)
x = torch.rand(128, 2) * 2 - 1
y = (x[:, 0] * x[:, 1] > 0).long()
clf = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.AdamW(clf.parameters(), lr=0.02)

for epoch in range(40):
    for part in torch.randperm(128).split(32):
        loss = nn.functional.cross_entropy(clf(x[part]), y[part])
        forget_gradients(opt)
        loss.backward()
        opt.step()

print("accuracy", (clf(x).argmax(1) == y).float().mean().item())
