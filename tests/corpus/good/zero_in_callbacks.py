"""OK: an event bus runs the handlers in order, one clears before the batch and one steps after backward."""
from collections import defaultdict

import torch
from torch import nn


class Bus:
    def __init__(self):
        self.handlers = defaultdict(list)

    def on(self, event):
        def register(fn):
            self.handlers[event].append(fn)
            return fn
        return register

    def fire(self, event, **state):
        for fn in self.handlers[event]:
            fn(**state)


class Loop(Bus):
    def __init__(self, model, optimizer, criterion):
        super().__init__()
        self.model, self.optimizer, self.criterion = model, optimizer, criterion

    def run(self, data, epochs):
        for epoch in range(epochs):
            for batch in data:
                self.fire("batch_start", loop=self)
                loss = self.criterion(self.model(batch[0]), batch[1])
                self.fire("loss_ready", loop=self, loss=loss)
            self.fire("epoch_end", loop=self, epoch=epoch, loss=loss)


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
loop = Loop(net, torch.optim.Adam(net.parameters(), lr=1e-2), nn.MSELoss())


@loop.on("batch_start")
def clear(loop):
    loop.optimizer.zero_grad()


@loop.on("loss_ready")
def differentiate(loop, loss):
    loss.backward()


@loop.on("loss_ready")
def apply(loop, loss):
    loop.optimizer.step()


@loop.on("epoch_end")
def show(loop, epoch, loss):
    print("epoch", epoch, loss.item())


loop.run([(x, x.sum(1, keepdim=True)) for x in torch.randn(10, 16, 4)], epochs=3)
