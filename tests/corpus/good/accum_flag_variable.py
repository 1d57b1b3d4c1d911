"""OK: a helper object says when to step; the training loop only asks it, and the real window size is used for the division."""
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Window:
    size: int
    total: int
    index: int = -1

    def advance(self):
        self.index += 1
        start = self.index - self.index % self.size
        return min(self.size, self.total - start)

    @property
    def closes(self):
        return self.index % self.size == self.size - 1 or self.index == self.total - 1


torch.manual_seed(0)
inputs = torch.randn(7, 16, 4)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(4):
    window = Window(size=3, total=len(inputs))
    optimizer.zero_grad()
    for x in inputs:
        share = window.advance()
        loss = nn.functional.l1_loss(model(x), x.max(1, keepdim=True).values)
        (loss / share).backward()
        do_step = window.closes
        if do_step:
            optimizer.step()
            optimizer.zero_grad()
print("loss", loss.item())
