"""BUG: at each time step the running sum of losses is back-propagated, so early losses count many times."""
import torch
from torch import nn


class Tracker(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(2, 12)
        self.read = nn.Linear(12, 2)

    def step(self, point, hidden):
        hidden = self.cell(point, hidden)
        return self.read(hidden), hidden


torch.manual_seed(35)
angle = torch.linspace(0, 12, 49)[None] + torch.rand(48, 1) * 6
paths = torch.stack([angle.cos(), angle.sin()], dim=-1)[:, ::8]

tracker = Tracker()
optimizer = torch.optim.Adam(tracker.parameters(), lr=4e-3)
for epoch in range(3):
    for batch in paths.split(12):
        optimizer.zero_grad()
        hidden = torch.zeros(len(batch), 12)
        loss = 0
        for t in range(batch.size(1) - 1):
            guess, hidden = tracker.step(batch[:, t], hidden)
            loss = loss + (guess - batch[:, t + 1]).pow(2).mean()
            loss.backward(retain_graph=True)  # expect: GL108
        optimizer.step()
    print("epoch", epoch, loss.item())
