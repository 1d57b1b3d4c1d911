"""OK: the closure clears only where gradients are enabled."""
import torch
from torch import nn

w = torch.zeros(4, 1, requires_grad=True)
X, Y = torch.randn(30, 4), torch.randn(30, 1)
opt = torch.optim.LBFGS([w], max_iter=5, line_search_fn="strong_wolfe")


def closure():
    if torch.is_grad_enabled():
        opt.zero_grad()
    loss = ((X @ w - Y) ** 2).mean()
    if loss.requires_grad:
        loss.backward()
    return loss


for _ in range(4):
    opt.step(closure)
