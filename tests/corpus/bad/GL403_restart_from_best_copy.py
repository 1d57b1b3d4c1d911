"""BUG: after two epochs the trainer continues with a copy of the best model, which the optimizer does not know."""
import copy

import torch
from torch import nn


class PatienceTrainer:
    def __init__(self, model, lr):
        self.model = model
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=lr)  # expect: GL403
        self.best, self.best_score = copy.deepcopy(model), float("inf")

    def train_epoch(self, batches):
        for x, y in batches:
            self.optimizer.zero_grad()
            loss = nn.functional.mse_loss(self.model(x), y)
            loss.backward()  # expect: GL403
            self.optimizer.step()

    @torch.no_grad()
    def validate(self, x, y):
        return nn.functional.mse_loss(self.model(x), y).item()

    def fit(self, batches, x_val, y_val, epochs):
        for epoch in range(epochs):
            self.train_epoch(batches)
            score = self.validate(x_val, y_val)
            if score < self.best_score:
                self.best, self.best_score = copy.deepcopy(self.model), score
            if epoch % 2 == 1:
                self.model = copy.deepcopy(self.best)
            print(epoch, score, self.best_score)


torch.manual_seed(226)
x = torch.randn(150, 4)
y = x.pow(2).sum(1, keepdim=True)
net = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 1))
trainer = PatienceTrainer(net, lr=0.01)
trainer.fit(list(zip(x[:120].split(20), y[:120].split(20))), x[120:], y[120:], epochs=4)
