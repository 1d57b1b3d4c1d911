"""Lesson 3 measured: gradients set to None against gradients filled with zeros."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import perf_counter

import torch
from torch import nn

from gradledger.lessons.measuring.chart import Chart, Measurement
from gradledger.lessons.measuring.memory import left
from gradledger.report.plot import Line

WIDTHS = (128, 256, 512, 1024)
ROUNDS = 15


def measure(progress: Callable[[str], None]) -> Measurement:
    """Clear the gradients of ever larger models in both ways, in turn."""
    sizes: list[float] = []
    times: dict[bool, list[float]] = {True: [], False: []}
    held: dict[bool, list[float]] = {True: [], False: []}
    for width in WIDTHS:
        progress(f"a model {width} wide")
        model = nn.Sequential(*(nn.Linear(width, width) for _ in range(6)))
        sizes.append(round(sum(p.numel() for p in model.parameters()) / 1e6, 2))
        x = torch.randn(8, width)
        for to_none, seconds in _times(model, x).items():
            times[to_none].append(1e6 * seconds)
        for to_none, memory in held.items():
            model.zero_grad()
            memory.append(abs(left(partial(_turn, model, x, to_none=to_none))))
    rows = tuple(
        (f"{size:.2f}", f"{none:.0f}", f"{zero:.0f}", f"{after:.1f}", f"{kept:.1f}")
        for size, none, zero, after, kept in zip(sizes, *times.values(), *held.values(), strict=True)
    )
    lines = (Line("None", sizes, times[True]), Line("zeros", sizes, times[False]))
    ratio = times[False][-1] / times[True][-1]
    reading = (
        f"On this machine, for {sizes[-1]:.1f} million parameters, writing zeros takes {ratio:.1f} times as "
        f"long as setting to None, and keeps {held[False][-1]:.1f} MiB of zeros until the next backward(); "
        f"None keeps {held[True][-1]:.1f}."
    )
    return Measurement(
        "What does clearing cost, and what does it leave?",
        ("million parameters", "to None, µs", "zeros, µs", "None keeps, MiB", "zeros keep, MiB"),
        rows,
        (Chart("Clearing the gradients of a model", "million parameters", "microseconds", lines),),
        reading,
    )


def _turn(model: nn.Module, x: torch.Tensor, *, to_none: bool) -> None:
    model(x).sum().backward()
    model.zero_grad(set_to_none=to_none)


def _times(model: nn.Module, x: torch.Tensor) -> dict[bool, float]:
    """Seconds for one clearing, the quickest of several rounds in which both take turns."""
    taken: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(ROUNDS):
        for to_none in taken:
            model(x).sum().backward()
            begin = perf_counter()
            model.zero_grad(set_to_none=to_none)
            taken[to_none].append(perf_counter() - begin)
    return {to_none: min(seconds) for to_none, seconds in taken.items()}
