"""The same seeded training with one mistake and without, four times; writes what each step did as JSON."""

import copy
import json
import math
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

WINDOW = 4
EPOCHS = 2
RATE = 0.3

torch.manual_seed(7)
features = torch.randn(1000, 10)
direction = torch.randn(10)
labels = (features @ direction + 0.9 * torch.randn(1000) > 0).long()
first_weights = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 2))
criterion = nn.CrossEntropyLoss()


def batches(epoch):
    order = torch.Generator().manual_seed(epoch)
    return DataLoader(TensorDataset(features, labels), batch_size=25, shuffle=True, generator=order)


def plain(model, optimizer, *, mistake):
    """Zero, backward, step for every batch."""
    for epoch in range(EPOCHS):
        for inputs, targets in batches(epoch):
            loss = criterion(model(inputs), targets)
            if mistake is None:
                optimizer.zero_grad()
            loss.backward()
            if mistake == "zero after backward":
                optimizer.zero_grad()
            yield "pass", loss.item()
            yield "step", norm(model)
            optimizer.step()


def window(model, optimizer, *, mistake):
    """One step for every four micro-batches."""
    optimizer.zero_grad()
    for epoch in range(EPOCHS):
        for number, (inputs, targets) in enumerate(batches(epoch), 1):
            if mistake == "zero inside the window":
                optimizer.zero_grad()
            loss = criterion(model(inputs), targets)
            share = loss if mistake == "undivided loss" else loss / WINDOW
            share.backward()
            yield "pass", loss.item()
            if number % WINDOW == 0:
                yield "step", norm(model)
                optimizer.step()
                optimizer.zero_grad()


def norm(model):
    grads = [param.grad for param in model.parameters() if param.grad is not None]
    return math.sqrt(sum(float(grad.double().norm()) ** 2 for grad in grads))


def weights(model):
    return torch.cat([param.detach().double().reshape(-1) for param in model.parameters()])


def side_by_side(loop, mistake):
    """Both trainings a step at a time."""
    sides = []
    for wrong in (mistake, None):
        model = copy.deepcopy(first_weights)
        optimizer = torch.optim.SGD(model.parameters(), lr=RATE * (WINDOW if loop is window else 1))
        sides.append((model, loop(model, optimizer, mistake=wrong)))
    told = {"loss": [[], []], "norm": [[], []], "distance": []}
    since = [[], []]
    for events in zip(*(events for _, events in sides), strict=True):
        for side, (kind, value) in enumerate(events):
            if kind == "pass":
                since[side].append(value)
            else:
                told["norm"][side].append(value)
                told["loss"][side].append(sum(since[side]) / len(since[side]))
                since[side] = []
        if events[0][0] == "step":
            told["distance"].append(float((weights(sides[0][0]) - weights(sides[1][0])).norm()))
    told["distance"] = [*told["distance"][1:], float((weights(sides[0][0]) - weights(sides[1][0])).norm())]
    told["size"] = float(weights(sides[1][0]).norm())
    return told


if __name__ == "__main__":
    results = {
        mistake: side_by_side(loop, mistake)
        for mistake, loop in (
            ("missing zero", plain),
            ("zero after backward", plain),
            ("zero inside the window", window),
            ("undivided loss", window),
        )
    }
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(results, file)
