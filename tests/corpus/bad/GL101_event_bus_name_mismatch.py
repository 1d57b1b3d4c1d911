"""BUG: the clearing handler listens to "batch_start", the engine fires "batch_begin": no gradient is ever cleared."""
from collections import defaultdict

import torch
import torch.nn as nn


class EventBus:
    def __init__(self):
        self.handlers = defaultdict(list)

    def on(self, name):
        def register(fn):
            self.handlers[name].append(fn)
            return fn

        return register

    def fire(self, name, **payload):
        for fn in self.handlers[name]:
            fn(**payload)


class Engine:
    def __init__(self, net, opt, bus):
        self.net, self.opt, self.bus = net, opt, bus

    def run(self, batches, epochs):
        for epoch in range(epochs):
            self.bus.fire("epoch_begin", epoch=epoch)
            for x, y in batches:
                self.bus.fire("batch_begin", engine=self)
                loss = nn.functional.binary_cross_entropy_with_logits(self.net(x).squeeze(1), y)
                loss.backward()  # expect: GL101
                self.opt.step()
                self.bus.fire("batch_end", value=loss.item())
            self.bus.fire("epoch_end", epoch=epoch)


torch.manual_seed(5)
bus = EventBus()
seen = []


@bus.on("batch_start")
def clear(engine):
    engine.opt.zero_grad()


@bus.on("batch_end")
def remember(value):
    seen.append(value)


@bus.on("epoch_end")
def show(epoch):
    print(f"[{epoch}] mean loss {sum(seen) / len(seen):.4f}")
    seen.clear()


features = torch.randn(120, 6)
target = (features[:, 0] * features[:, 1] > 0).float()
data = list(zip(features.split(12), target.split(12)))
net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
Engine(net, torch.optim.RMSprop(net.parameters(), lr=1e-3), bus).run(data, epochs=3)
