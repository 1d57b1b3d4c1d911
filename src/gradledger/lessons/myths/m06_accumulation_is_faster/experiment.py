"""Times a window against the large batch, in turns."""

import statistics
import time

import torch
from torch import nn


def decide():
    """256 samples per update: one batch, and sixteen micro-batches of 16."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(64, 128), nn.Tanh(), nn.Linear(128, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    x = torch.randn(256, 64)
    spent = {256: [], 16: []}
    for _ in range(15):
        for size, times in spent.items():
            start = time.perf_counter()
            for part in x.split(size):
                (net(part).square().mean() * size / 256).backward()
            optimizer.step()
            optimizer.zero_grad()
            times.append(1e6 * (time.perf_counter() - start))
    batch, window = statistics.median(spent[256]), statistics.median(spent[16])
    print(f"one batch of 256:       {batch:6.0f} µs per update")
    print(f"a window of sixteen 16s: {window:5.0f} µs per update")
    return {"holds": window < batch, "ratio": window / batch}
