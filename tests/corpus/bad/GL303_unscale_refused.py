"""BUG: update() is never called; torch refuses the next unscale_()."""
import torch
from torch import nn


class AmpTrainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=64.0)

    def optimize(self, loss):
        self.optimizer.zero_grad()
        self.scaler.scale(loss).backward()
        self.scaler.unscale_(self.optimizer)
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.scaler.step(self.optimizer)  # expect: GL303

    def run(self):
        for _ in range(4):
            self.optimize(self.model(torch.randn(2, 3)).square().mean())


AmpTrainer(nn.Linear(3, 3)).run()
