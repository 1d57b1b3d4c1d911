"""BUG: the gradient norm is logged after zero_grad() has already set every .grad to None."""
import torch
from torch import nn


class Monitor:
    def __init__(self, model):
        self.model = model
        self.norms = []

    def log(self):
        squares = 0.0
        for p in self.model.parameters():
            squares += p.grad.norm().item() ** 2  # expect: GL104
        self.norms.append(squares**0.5)


class Session:
    def __init__(self):
        torch.manual_seed(10)
        self.model = nn.GRU(4, 10, batch_first=True)
        self.readout = nn.Linear(10, 1)
        params = [*self.model.parameters(), *self.readout.parameters()]
        self.optimizer = torch.optim.Adam(params, lr=1e-3)
        self.monitor = Monitor(self.model)

    def step(self, series, target):
        states, _ = self.model(series)
        loss = nn.functional.huber_loss(self.readout(states[:, -1]), target)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.monitor.log()
        return loss.item()


session = Session()
for _ in range(2):
    for series in torch.randn(4, 16, 7, 4):
        session.step(series, series.sum(dim=(1, 2)).unsqueeze(1))
print("norms", session.monitor.norms)
