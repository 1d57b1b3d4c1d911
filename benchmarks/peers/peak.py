"""How much memory one update takes, as one full batch or as a window of 8 micro-batches.

python -m peers.peak    prints a line of JSON: MiB that tensors take at most, above model and data
"""

from __future__ import annotations

import json

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.profiler import ProfilerActivity, profile

import gradledger

WAYS = {
    "full batch of 64 sequences, by hand": "full",
    "window of 8 micro-batches of 8, by hand": "hand",
    "window of 8 micro-batches of 8, gradledger": "window",
    "the same by acc.step_on(batch, micro_batch=8)": "whole",
}


def update(way: str, model: nn.Module, x: Tensor, y: Tensor) -> None:
    """One update, and the gradients cleared."""
    optimizer = torch.optim.AdamW(model.parameters())
    pieces = list(zip(x.chunk(8), y.chunk(8), strict=True))
    if way in ("full", "hand"):
        for a, b in [(x, y)] if way == "full" else pieces:
            (F.mse_loss(model(a), b) * len(a) / len(x)).backward()
        optimizer.step()
        optimizer.zero_grad()
        return
    acc = gradledger.Accumulator(model, optimizer, every=8)
    if way == "window":
        for a, b in acc.batches(pieces):
            acc.backward(F.mse_loss(model(a), b), count=len(a))
    else:
        acc.step_on((x, y), lambda part: F.mse_loss(model(part[0]), part[1]), micro_batch=8)


def peak(way: str) -> float:
    """What the profiler saw being allocated and freed, added up in order."""
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(128, 4, 256, dropout=0.0, batch_first=True)
    model = nn.Sequential(nn.TransformerEncoder(layer, 4, enable_nested_tensor=False), nn.Linear(128, 8))
    x, y = torch.randn(64, 64, 128), torch.randn(64, 64, 8)
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True, acc_events=True) as profiler:
        update(way, model, x, y)
    events = [e for e in profiler.profiler.kineto_results.events() if e.name() == "[memory]"]
    live = most = 0
    for event in sorted(events, key=lambda e: e.start_ns()):
        live += event.nbytes()
        most = max(most, live)
    return most / 2**20


if __name__ == "__main__":
    torch.set_num_threads(1)
    print(json.dumps({title: peak(way) for title, way in WAYS.items()}))
