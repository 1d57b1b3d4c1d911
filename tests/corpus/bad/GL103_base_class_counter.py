"""BUG: the base class zeroes the gradients for every micro-batch while the subclass steps on every third."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class BaseTrainer:
    def __init__(self, model, lr):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)

    def forward_backward(self, x, y):
        self.optimizer.zero_grad()  # expect: GL103
        loss = self.compute_loss(x, y)
        loss.backward()
        return loss.detach()

    def compute_loss(self, x, y):
        return nn.functional.mse_loss(self.model(x), y)

    def maybe_step(self):
        self.optimizer.step()

    def train(self, loader, epochs):
        for epoch in range(epochs):
            total = torch.zeros(())
            for x, y in loader:
                total += self.forward_backward(x, y)
                self.maybe_step()
            print("epoch", epoch, (total / len(loader)).item())


class AccumulatingTrainer(BaseTrainer):
    def __init__(self, model, lr, every):
        super().__init__(model, lr)
        self.every = every
        self.seen = 0

    def compute_loss(self, x, y):
        return super().compute_loss(x, y) / self.every

    def maybe_step(self):
        self.seen += 1
        if self.seen == self.every:
            super().maybe_step()
            self.seen = 0


if __name__ == "__main__":
    torch.manual_seed(12)
    x = torch.randn(216, 5)
    y = torch.stack([x.sum(1), x.prod(1)], dim=1)
    loader = DataLoader(TensorDataset(x, y), batch_size=12, shuffle=True)
    AccumulatingTrainer(nn.Sequential(nn.Linear(5, 24), nn.Tanh(), nn.Linear(24, 2)), 1e-3, every=3).train(loader, 3)
