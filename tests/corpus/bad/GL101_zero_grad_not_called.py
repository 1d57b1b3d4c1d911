"""BUG: `self.opt.zero_grad` is written without parentheses, so nothing is cleared."""
import torch
from sklearn.datasets import load_digits
from torch import nn


class DigitTrainer:
    def __init__(self, lr=0.002, batch=32):
        torch.manual_seed(1)
        self.net = nn.Sequential(nn.Linear(64, 48), nn.Tanh(), nn.Linear(48, 10))
        self.opt = torch.optim.SGD(self.net.parameters(), lr=lr, momentum=0.9)
        self.batch = batch
        digits = load_digits()
        self.x = torch.tensor(digits.data[:640], dtype=torch.float32) / 16.0
        self.y = torch.tensor(digits.target[:640])

    def batches(self):
        order = torch.randperm(len(self.x))
        for index in order.split(self.batch):
            yield self.x[index], self.y[index]

    def update(self, x, y):
        self.opt.zero_grad  # expect: GL101
        loss = nn.functional.cross_entropy(self.net(x), y)
        loss.backward()
        self.opt.step()
        return loss.item()

    def run(self, epochs):
        for epoch in range(epochs):
            losses = [self.update(x, y) for x, y in self.batches()]
            print(epoch, round(sum(losses) / len(losses), 4))


DigitTrainer().run(3)
