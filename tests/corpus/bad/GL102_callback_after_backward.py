"""BUG: the ZeroGrad callback is hooked to after_backward, so every step finds cleared gradients."""
import torch
from torch import nn


class Callback:
    def before_batch(self, learner): ...
    def after_backward(self, learner): ...
    def after_step(self, learner): ...


class ZeroGrad(Callback):
    def after_backward(self, learner):
        learner.opt.zero_grad()  # expect: GL102


class Recorder(Callback):
    def __init__(self):
        self.losses = []

    def after_step(self, learner):
        self.losses.append(learner.loss.item())


class Learner:
    def __init__(self, model, opt, loss_func, cbs):
        self.model, self.opt, self.loss_func, self.cbs = model, opt, loss_func, cbs

    def __call__(self, name):
        for cb in self.cbs:
            getattr(cb, name)(self)

    def one_batch(self, xb, yb):
        self("before_batch")
        self.loss = self.loss_func(self.model(xb), yb)
        self.loss.backward()
        self("after_backward")
        self.opt.step()
        self("after_step")

    def fit(self, epochs, batches):
        for _ in range(epochs):
            for xb, yb in batches:
                self.one_batch(xb, yb)


torch.manual_seed(4)
x = torch.rand(180, 7)
y = x.prod(dim=1, keepdim=True) * 100
model = nn.Sequential(nn.Linear(7, 20), nn.SiLU(), nn.Linear(20, 1))
recorder = Recorder()
learner = Learner(
    model, torch.optim.SGD(model.parameters(), lr=0.02), nn.MSELoss(), [ZeroGrad(), recorder]
)
learner.fit(3, list(zip(x.split(30), y.split(30))))
print("losses", recorder.losses[0], recorder.losses[-1])
