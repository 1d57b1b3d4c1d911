"""OK: the shared model's .grad is the worker's own tensor, re-assigned after every backward; both sides are cleared before the next."""
import torch
from torch import nn


class Worker:
    def __init__(self, shared, seed):
        self.shared = shared
        self.local = nn.Linear(4, 1)
        self.generator = torch.Generator().manual_seed(seed)

    def pull(self):
        self.local.load_state_dict(self.shared.state_dict())

    def push(self):
        for p, q in zip(self.local.parameters(), self.shared.parameters()):
            q._grad = p.grad

    def rollout(self):
        x = torch.randn(10, 4, generator=self.generator)
        return (self.local(x) - x.mean(1, keepdim=True)).pow(2).mean()


torch.manual_seed(0)
shared = nn.Linear(4, 1)
optimizer = torch.optim.SGD(shared.parameters(), lr=0.1)
workers = [Worker(shared, seed) for seed in range(3)]
for turn in range(30):
    worker = workers[turn % 3]
    worker.pull()
    loss = worker.rollout()
    optimizer.zero_grad()
    worker.local.zero_grad()
    loss.backward()
    worker.push()
    optimizer.step()
print("loss", loss.item())
