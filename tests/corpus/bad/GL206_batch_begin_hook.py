"""BUG: the schedule advances in on_batch_begin, ahead of the optimizer's step of that batch."""
import torch
from torch import nn


class Hooks:
    def __init__(self, scheduler):
        self.scheduler = scheduler
        self.rates = []

    def on_batch_begin(self):
        self.scheduler.step()  # expect: GL206

    def on_batch_end(self):
        self.rates.append(self.scheduler.get_last_lr()[0])


def pairs(n, size):
    g = torch.Generator().manual_seed(9)
    for _ in range(n):
        left = torch.randn(size, 6, generator=g)
        yield left, left.flip(1)


class Matcher(nn.Module):
    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Linear(6, 6), nn.Linear(6, 6)

    def forward(self, a, b):
        scores = self.left(a) @ self.right(b).T
        return nn.functional.cross_entropy(scores, torch.arange(len(a)))


torch.manual_seed(122)
epochs, per_epoch = 2, 10
model = Matcher()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
hooks = Hooks(torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, total_iters=epochs * per_epoch))
for epoch in range(epochs):
    for a, b in pairs(per_epoch, 16):
        hooks.on_batch_begin()
        optimizer.zero_grad()
        loss = model(a, b)
        loss.backward()
        optimizer.step()
        hooks.on_batch_end()
print("first rate used", hooks.rates[0], "loss", loss.item())
