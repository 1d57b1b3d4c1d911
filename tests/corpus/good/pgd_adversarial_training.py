"""OK: PGD's inner backward calls are for delta (its own gradient is zeroed each time); the model is cleared before it trains."""
import torch
from torch import nn


class Trainer:
    def __init__(self, net, eps=0.2, alpha=0.08, steps=4):
        self.net, self.eps, self.alpha, self.steps = net, eps, alpha, steps
        self.sgd = torch.optim.SGD(net.parameters(), lr=0.1)

    def attack(self, x, y):
        delta = torch.zeros_like(x, requires_grad=True)
        for _ in range(self.steps):
            nn.functional.cross_entropy(self.net(x + delta), y).backward()
            delta.data = (delta + self.alpha * delta.grad.sign()).clamp(-self.eps, self.eps)
            delta.grad.zero_()
        return delta.detach()

    def fit(self, x, y):
        delta = self.attack(x, y)
        self.sgd.zero_grad()
        loss = nn.functional.cross_entropy(self.net(x + delta), y)
        loss.backward()
        self.sgd.step()
        return loss.item()


torch.manual_seed(0)
trainer = Trainer(nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 3)))
for epoch in range(3):
    for x in torch.randn(8, 32, 4):
        loss = trainer.fit(x, x[:, :3].argmax(1))
print("robust loss", loss)
