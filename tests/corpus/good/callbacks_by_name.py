"""OK: clearing and clipping in callbacks that are found by name."""
import torch
from torch import nn


class Callback:
    def before_backward(self, r): ...
    def after_step(self, r): ...


class Zero(Callback):
    def after_step(self, r):
        r.opt.zero_grad()


class Clip(Callback):
    def before_step(self, r):
        nn.utils.clip_grad_norm_(r.model.parameters(), 1.0)


class Runner:
    def __init__(self, model, cbs):
        self.model, self.cbs = model, cbs
        self.opt = torch.optim.SGD(model.parameters(), lr=0.1)

    def __call__(self, name):
        for cb in self.cbs:
            f = getattr(cb, name, None)
            if f:
                f(self)

    def fit(self, n):
        for _ in range(n):
            self.loss = self.model(torch.randn(4, 3)).square().mean()
            self("before_backward")
            self.loss.backward()
            self("before_step")
            self.opt.step()
            self("after_step")


Runner(nn.Linear(3, 1), [Zero(), Clip()]).fit(8)
