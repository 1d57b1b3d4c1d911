"""BUG: no callback of the event lists clears the gradients."""
import torch
from torch import nn


class Event(list):
    def __call__(self, *a, **k):
        for f in self:
            f(*a, **k)


class Learner:
    def __init__(self, model, cbs):
        self.model = model
        self.opt = torch.optim.SGD(model.parameters(), lr=0.05)
        self.before_batch, self.after_backward, self.after_step = Event(), Event(), Event()
        for cb in cbs:
            cb.attach(self)

    def fit(self, data, epochs):
        for self.epoch in range(epochs):
            for self.xb, self.yb in data:
                self.before_batch()
                self.loss = nn.functional.mse_loss(self.model(self.xb), self.yb)
                self.loss.backward()  # expect: GL101
                self.after_backward()
                self.opt.step()
                self.after_step()


class Clip:
    def __init__(self, m):
        self.m = m

    def attach(self, learner):
        learner.after_backward.append(lambda: nn.utils.clip_grad_norm_(learner.model.parameters(), self.m))


class Log:
    def attach(self, learner):
        self.seen = []
        learner.after_step.append(lambda: self.seen.append(learner.loss.item()))


torch.manual_seed(0)
log = Log()
data = [(torch.randn(8, 4), torch.randn(8, 1)) for _ in range(10)]
Learner(nn.Linear(4, 1), [Clip(1.0), log]).fit(data, 2)
print(len(log.seen), log.seen[-1])
