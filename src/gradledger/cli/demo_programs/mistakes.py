"""Seven training loops, each with one classic mistake; every one runs to the end without an error."""

import json
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

EPOCHS = 3
WINDOW = 4

torch.manual_seed(0)
X = torch.randn(1000, 10)
Y = (X @ torch.randn(10) + X[:, 0] * X[:, 1] + 0.3 * torch.randn(1000) > 0).long()
LOADER = DataLoader(TensorDataset(X, Y), batch_size=36)  # 28 batches; the last is smaller
RESULTS = {}


class Training:
    """The same model, data and optimizer for every loop; counts updates and keeps the weights."""

    def __init__(self, name):
        torch.manual_seed(1)
        self.model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 2))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.5)
        self.loss_fn = nn.CrossEntropyLoss()
        self.name = name
        self.updates = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with torch.no_grad():
            loss = self.loss_fn(self.model(X), Y).item()
            weights = torch.cat([p.flatten() for p in self.model.parameters()]).tolist()
        RESULTS[self.name] = {"loss": loss, "updates": self.updates, "weights": weights}


with Training("gradients never cleared") as t:
    for epoch in range(EPOCHS):
        for x, y in LOADER:
            loss = t.loss_fn(t.model(x), y)
            loss.backward()
            t.optimizer.step()
            t.updates += 1

with Training("cleared between backward and step") as t:
    for epoch in range(EPOCHS):
        for x, y in LOADER:
            loss = t.loss_fn(t.model(x), y)
            loss.backward()
            t.optimizer.zero_grad()
            t.optimizer.step()
            t.updates += 1

with Training("stepped twice") as t:
    for epoch in range(EPOCHS):
        for x, y in LOADER:
            t.optimizer.zero_grad()
            loss = t.loss_fn(t.model(x), y)
            loss.backward()
            t.optimizer.step()
            t.optimizer.step()
            t.updates += 2

with Training("cleared inside the window") as t:
    for epoch in range(EPOCHS):
        for i, (x, y) in enumerate(LOADER):
            t.optimizer.zero_grad()
            loss = t.loss_fn(t.model(x), y) / WINDOW
            loss.backward()
            if (i + 1) % WINDOW == 0:
                t.optimizer.step()
                t.updates += 1

with Training("window not divided") as t:
    for epoch in range(EPOCHS):
        for i, (x, y) in enumerate(LOADER):
            loss = t.loss_fn(t.model(x), y)
            loss.backward()
            if (i + 1) % WINDOW == 0:
                t.optimizer.step()
                t.optimizer.zero_grad()
                t.updates += 1

with Training("tail leaks into the next epoch") as t:
    for epoch in range(EPOCHS):
        for i, (x, y) in enumerate(LOADER):
            loss = t.loss_fn(t.model(x), y) / 5
            loss.backward()
            if (i + 1) % 5 == 0:
                t.optimizer.step()
                t.optimizer.zero_grad()
                t.updates += 1

with Training("schedule advanced per micro-batch") as t:
    schedule = torch.optim.lr_scheduler.LinearLR(
        t.optimizer, 1.0, 0.05, total_iters=EPOCHS * len(LOADER) // WINDOW
    )
    for epoch in range(EPOCHS):
        for i, (x, y) in enumerate(LOADER):
            loss = t.loss_fn(t.model(x), y) / WINDOW
            loss.backward()
            if (i + 1) % WINDOW == 0:
                t.optimizer.step()
                t.optimizer.zero_grad()
                t.updates += 1
            schedule.step()

if len(sys.argv) > 1:
    with open(sys.argv[1], "w") as file:
        json.dump(RESULTS, file)
