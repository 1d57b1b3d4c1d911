"""BUG: the model is made anew after the optimizer was built."""
import torch
from torch import nn


class Experiment:
    def __init__(self, width):
        self.width = width
        self.model = self.make()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)  # expect: GL403

    def make(self):
        return nn.Sequential(nn.Linear(3, self.width), nn.ReLU(), nn.Linear(self.width, 1))

    def reset(self):
        self.model = self.make()

    def run(self):
        self.reset()
        for _ in range(8):
            self.optimizer.zero_grad()
            loss = self.model(torch.randn(4, 3)).square().mean()
            loss.backward()  # expect: GL403
            self.optimizer.step()


Experiment(5).run()
