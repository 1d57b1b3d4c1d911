"""BUG: the model is copied after the optimizer was built, and the copy is trained."""
import copy
import torch
from torch import nn


class Trainer:
    def __init__(self, model):
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)  # expect: GL403
        self.model = copy.deepcopy(model)

    def fit(self, n):
        for _ in range(n):
            self.optimizer.zero_grad()
            loss = self.model(torch.randn(4, 3)).square().mean()
            loss.backward()  # expect: GL403
            self.optimizer.step()


Trainer(nn.Linear(3, 3)).fit(10)
