"""BUG: the clipping callback has a lower priority than the stepping one, so it clips what has already been applied."""
import torch
from torch import nn


class Hook:
    priority = 50

    def after_backward(self, trainer):
        pass


class OptimizerHook(Hook):
    priority = 60

    def after_backward(self, trainer):
        trainer.optimizer.step()


class GradClipHook(Hook):
    priority = 40

    def __init__(self, max_norm):
        self.max_norm = max_norm
        self.norms = []

    def after_backward(self, trainer):
        norm = nn.utils.clip_grad_norm_(trainer.model.parameters(), self.max_norm)  # expect: GL304
        self.norms.append(norm.item())


class HookTrainer:
    def __init__(self, model, optimizer, hooks):
        self.model, self.optimizer = model, optimizer
        self.hooks = sorted(hooks, key=lambda h: -h.priority)

    def train(self, series, epochs, horizon=12):
        for epoch in range(epochs):
            for window in series:
                self.optimizer.zero_grad()
                out, _ = self.model["rnn"](window[:, :horizon])
                loss = (self.model["head"](out[:, -1]) - window[:, horizon]).abs().mean()
                loss.backward()
                for hook in self.hooks:
                    hook.after_backward(self)
            print(f"epoch {epoch} mae {loss.item():.4f}")


torch.manual_seed(444)
t = torch.arange(13) * 0.4
phases = torch.rand(70, 1) * 6.28
waves = torch.sin(t + phases).unsqueeze(-1)
model = nn.ModuleDict({"rnn": nn.RNN(1, 12, batch_first=True), "head": nn.Linear(12, 1)})
clipper = GradClipHook(0.25)
trainer = HookTrainer(model, torch.optim.SGD(model.parameters(), lr=0.05), [clipper, OptimizerHook()])
trainer.train(waves.split(10), epochs=3)
print("largest norm", max(clipper.norms))
