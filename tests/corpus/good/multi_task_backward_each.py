"""OK: each task has its own batch and backward, and one step applies the weighted sum of the task gradients."""
import torch
from torch import nn


class Task:
    def __init__(self, name, out, weight, target):
        self.name, self.weight, self.target = name, weight, target
        self.head = nn.Linear(12, out)

    def sample(self, n):
        x = torch.randn(n, 5)
        return x, self.target(x)


torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(5, 12), nn.ReLU())
tasks = [
    Task("sum", 1, 1.0, lambda x: x.sum(1, keepdim=True)),
    Task("swap", 5, 0.5, lambda x: x.flip(1)),
    Task("sign", 1, 0.25, lambda x: x[:, :1].sign()),
]
params = list(encoder.parameters()) + [p for t in tasks for p in t.head.parameters()]
opt = torch.optim.SGD(params, lr=0.05)

for step in range(40):
    opt.zero_grad()
    report = {}
    for task in tasks:
        x, y = task.sample(16)
        loss = nn.functional.mse_loss(task.head(encoder(x)), y)
        (task.weight * loss).backward()
        report[task.name] = loss.item()
    opt.step()
print(report)
