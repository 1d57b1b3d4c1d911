"""BUG: an attribute sums up the losses with their graphs, written out as an assignment."""
import torch
from torch import nn


class Trainer:
    def __init__(self, model, lr=1e-2):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        self.total_loss = 0

    def train_epoch(self, batches):
        self.total_loss = 0
        for xb, yb in batches:
            self.optimizer.zero_grad()
            loss = ((self.model(xb) - yb) ** 2).mean()
            loss.backward()
            self.optimizer.step()
            self.total_loss = self.total_loss + loss  # expect: GL107
        return self.total_loss / len(batches)


torch.manual_seed(0)
X = torch.randn(200, 8)
Y = X @ torch.randn(8, 1) + 0.1 * torch.randn(200, 1)
batches = list(zip(X.split(25), Y.split(25)))
trainer = Trainer(nn.Linear(8, 1))
for epoch in range(3):
    print(epoch, float(trainer.train_epoch(batches)))
