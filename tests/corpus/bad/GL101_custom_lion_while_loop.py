"""BUG: a while loop around a home-made Lion optimizer takes its steps without ever zeroing the gradients."""
import itertools

import torch
from torch import nn
from torch.optim import Optimizer


class Lion(Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if not state:
                    state["momentum"] = torch.zeros_like(p)
                m = state["momentum"]
                p.mul_(1 - group["lr"] * group["weight_decay"])
                p.add_((m * beta1 + p.grad * (1 - beta1)).sign_(), alpha=-group["lr"])
                m.mul_(beta2).add_(p.grad, alpha=1 - beta2)


def polynomial_batches(size):
    while True:
        t = torch.rand(size, 1) * 2 - 1
        yield torch.cat([t, t**2, t**3], dim=1), 2 * t - t**3


def fit(max_steps=40):
    torch.manual_seed(2)
    stream = polynomial_batches(32)
    net = nn.Sequential(nn.Linear(3, 16), nn.GELU(), nn.Linear(16, 1))
    opt = Lion(net.parameters(), lr=1e-3, weight_decay=0.01)
    counter = itertools.count()
    step = next(counter)
    while step < max_steps:
        x, y = next(stream)
        loss = nn.functional.smooth_l1_loss(net(x), y)
        loss.backward()  # expect: GL101
        opt.step()
        step = next(counter)
    return loss.item()


print("final loss", fit())
