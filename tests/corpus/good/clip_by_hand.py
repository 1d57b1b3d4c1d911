"""OK: the global norm is computed and applied by hand between backward and step; a second run uses the two-stage torch functions."""
import torch
from torch import nn
from torch.nn.utils import clip_grads_with_norm_, get_total_norm


def by_hand(params, bound):
    total = torch.sqrt(sum(p.grad.detach().pow(2).sum() for p in params))
    if total > bound:
        for p in params:
            p.grad.detach().mul_(bound / (total + 1e-6))
    return total


def two_stage(params, bound):
    total = get_total_norm([p.grad for p in params])
    clip_grads_with_norm_(params, bound, total)
    return total


for clip in (by_hand, two_stage):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    params = list(net.parameters())
    sgd = torch.optim.SGD(params, lr=0.1)
    for x in torch.randn(30, 16, 4):
        sgd.zero_grad()
        loss = (net(x) - 3 * x[:, :1]).pow(2).mean()
        loss.backward()
        norm = clip(params, 0.5)
        sgd.step()
    print(clip.__name__, loss.item(), norm.item())
