"""BUG: the clipping callback is bound to every backward, so each partial sum of the window is clipped on its way."""
import types

import torch
import torch.nn.functional as F
from torch import nn


class Loop:
    def __init__(self, model, optimizer, accumulate):
        self.model, self.optimizer, self.accumulate = model, optimizer, accumulate
        self.callbacks = {}

    def add(self, event, fn):
        self.callbacks[event] = types.MethodType(fn, self)

    def trigger(self, event):
        if event in self.callbacks:
            self.callbacks[event]()

    def run(self, graphs, epochs):
        for self.epoch in range(epochs):
            self.total = 0.0
            self.optimizer.zero_grad()
            for self.index, (adj, x, y) in enumerate(graphs):
                loss = F.mse_loss(self.model(adj, x), y)
                (loss / self.accumulate).backward()
                self.total += loss.item()
                self.trigger("backward_completed")
                if (self.index + 1) % self.accumulate == 0:
                    self.trigger("before_step")
                    self.optimizer.step()
                    self.optimizer.zero_grad()
            self.trigger("epoch_completed")


class MessagePassing(nn.Module):
    def __init__(self, d=5, h=12):
        super().__init__()
        self.msg, self.upd, self.out = nn.Linear(d, h), nn.Linear(h, h), nn.Linear(h, 1)

    def forward(self, adj, x):
        h = torch.relu(self.msg(adj @ x))
        h = torch.relu(self.upd(adj @ h))
        return self.out(h.sum(1))


def clip_gradients(self):
    nn.utils.clip_grad_norm_(self.model.parameters(), max_norm=0.5)  # expect: GL307


def print_epoch(self):
    print(f"epoch {self.epoch} loss {self.total / (self.index + 1):.4f}")


def molecules(count, batch=6, nodes=7):
    for _ in range(count):
        adj = torch.rand(batch, nodes, nodes).round()
        adj = ((adj + adj.transpose(1, 2)) > 1).float() / nodes
        x = torch.randn(batch, nodes, 5)
        yield adj, x, adj.sum((1, 2)).unsqueeze(1)


torch.manual_seed(707)
model = MessagePassing()
loop = Loop(model, torch.optim.SGD(model.parameters(), lr=0.05), accumulate=4)
loop.add("backward_completed", clip_gradients)
loop.add("epoch_completed", print_epoch)
loop.run(list(molecules(12)), epochs=3)
