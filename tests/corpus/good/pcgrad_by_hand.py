"""OK: PCGrad: one backward per task into a cleared model, copied away, projected, and the merged result assigned before the step."""
import random

import torch
from torch import nn

torch.manual_seed(0)
random.seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 3))
params = list(net.parameters())
opt = torch.optim.Adam(params, lr=1e-2)


def flat_gradient(loss):
    opt.zero_grad(set_to_none=True)
    loss.backward(retain_graph=True)
    return torch.cat([p.grad.detach().flatten().clone() for p in params])


def project(grads):
    merged = []
    for i, g in enumerate(grads):
        g = g.clone()
        others = grads[:i] + grads[i + 1:]
        random.shuffle(others)
        for h in others:
            dot = g @ h
            if dot < 0:
                g -= dot / h.norm() ** 2 * h
        merged.append(g)
    return torch.stack(merged).sum(0)


for step in range(40):
    x = torch.randn(32, 6)
    out = net(x)
    losses = [
        (out[:, 0] - x[:, 0]).pow(2).mean(),
        (out[:, 1] + x[:, 0]).pow(2).mean(),
        (out[:, 2] - x[:, 1:].sum(1)).pow(2).mean(),
    ]
    flat = project([flat_gradient(l) for l in losses])
    for p, part in zip(params, flat.split([p.numel() for p in params])):
        p.grad = part.view_as(p)
    opt.step()
print([l.item() for l in losses])
