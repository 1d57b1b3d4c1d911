"""Lesson 6 measured: one large batch against a window of small ones."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import torch
from torch import Tensor, nn

from gradledger.lessons.measuring.chart import Chart, Measurement
from gradledger.lessons.measuring.memory import peak
from gradledger.report.plot import Line

SAMPLES = 2048
MICRO = (64, 128, 256, 512, 1024, 2048)
WIDTH, DEPTH = 96, 8
"""Many small layers: what they keep for backward() outweighs their weights, as in a real network."""
ROUNDS = 3


def measure(progress: Callable[[str], None]) -> Measurement:
    """One update over the same samples, cut into micro-batches of each size."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, WIDTH), nn.Tanh(), *_blocks(), nn.Linear(WIDTH, 8))
    x, y = torch.randn(SAMPLES, 64), torch.randn(SAMPLES, 8)
    memory: list[float] = []
    seconds: list[list[float]] = [[] for _ in MICRO]
    gradients: list[Tensor] = []
    for size in MICRO:
        progress(f"memory with micro-batches of {size}")
        model.zero_grad()
        memory.append(peak(lambda size=size: _window(model, x, y, size)))  # type: ignore[misc]
        gradients.append(torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None]))
    for number in range(ROUNDS):
        progress(f"time, round {number + 1} of {ROUNDS}")
        for taken, size in zip(seconds, MICRO, strict=True):
            model.zero_grad()
            begin = perf_counter()
            _window(model, x, y, size)
            taken.append(1e3 * (perf_counter() - begin))
    times = [min(taken) for taken in seconds]
    whole = gradients[-1]
    apart = [((gradient - whole).norm() / whole.norm()).item() for gradient in gradients]
    rows = tuple(
        (str(size), str(SAMPLES // size), f"{mib:.1f}", f"{time:.1f}", f"{off:.0e}")
        for size, mib, time, off in zip(MICRO, memory, times, apart, strict=True)
    )
    reading = (
        f"The same gradient each time, up to rounding. Cut into {SAMPLES // MICRO[0]}, it needs "
        f"{memory[0] / memory[-1]:.0%} of the memory of the large batch, and "
        f"{times[0] / times[-1]:.1f} times its time: accumulation saves memory, not time."
    )
    sizes = [float(size) for size in MICRO]
    return Measurement(
        f"What does one update over {SAMPLES} samples take, cut into micro-batches?",
        ("samples each", "micro-batches", "peak, MiB", "time, ms", "gradient off by"),
        rows,
        (
            Chart("Peak memory", "samples per micro-batch", "MiB", (Line("memory", sizes, memory),)),
            Chart("Time of one update", "samples per micro-batch", "ms", (Line("time", sizes, times),)),
        ),
        reading,
    )


def _blocks() -> list[nn.Module]:
    return [layer for _ in range(DEPTH) for layer in (nn.Linear(WIDTH, WIDTH), nn.Tanh())]


def _window(model: nn.Module, x: Tensor, y: Tensor, size: int) -> None:
    for a, b in zip(torch.split(x, size), torch.split(y, size), strict=True):
        loss = nn.functional.mse_loss(model(a), b) * len(a) / len(x)
        loss.backward()  # type: ignore[no-untyped-call]
