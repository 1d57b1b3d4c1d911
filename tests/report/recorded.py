"""Recordings written by hand, for what reads them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from gradledger.ledger import details as seen
from gradledger.ledger import events as ev
from gradledger.ledger.recorder import Recorder
from gradledger.ledger.site import Site

PROGRAM = """\
import torch

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
"""


def site(path: Path | str, line: int) -> Site:
    return Site(str(path), line, 5, line, 20)


def opening(path: Path | str, names: tuple[str, ...] = ("weight", "bias")) -> list[ev.Event]:
    return [
        ev.OptimizerBuilt(site(path, 4), 1, "SGD"),
        ev.AccountOpened(site(path, 4), 1, 2, names, optimizer=1),
    ]


def stale_run(
    path: Path | str, steps: int = 12, names: tuple[str, ...] = ("weight", "bias")
) -> Iterator[ev.Event]:
    """Nothing is ever cleared."""
    yield from opening(path, names)
    backward = ev.BackwardRan(site(path, 7), (1,), loader=1)
    step = ev.OptimizerStepped(site(path, 8), (1,), 1)
    for _ in range(steps):
        yield backward
        yield step
    yield ev.RunEnded(None)


def right_run(path: Path | str, steps: int = 12, every: int = 1) -> Iterator[ev.Event]:
    """Cleared after each step."""
    yield from opening(path)
    backward = ev.BackwardRan(site(path, 7), (1,), loader=1)
    step = ev.OptimizerStepped(site(path, 8), (1,), 1, windowed=every > 1)
    clear = ev.GradientCleared(site(path, 9), (1,), owner=1)
    for _ in range(steps):
        for _ in range(every):
            yield backward
        yield step
        yield clear
    yield ev.RunEnded(None)


def detailed_run(path: Path | str, steps: int = 12) -> Iterator[ev.Event]:
    """A right run with everything a detailed recording can hold, every fifth update skipped."""
    yield seen.StepsWanted(None, (1, 2))
    yield from opening(path)
    backward = ev.BackwardRan(site(path, 7), (1,), scaled_by=1, loader=1)
    clip = ev.GradientsClipped(site(path, 8), (1,))
    unscale = ev.GradientsUnscaled(site(path, 8), (1,), 1, 1)
    step = ev.OptimizerStepped(site(path, 8), (1,), 1, 1)
    skip = ev.StepSkipped(site(path, 8), (1,), 1, 1)
    clear = ev.GradientCleared(site(path, 5), (1,), owner=1)
    x = seen.TensorSeen("x", (8, 2), "torch.float32", (0.5, -1.0))
    out = seen.TensorSeen("out", (8, 1), "torch.float32", (0.25,))
    scaled, tried = ev.LossScaled(site(path, 7), 1), ev.ScalerStepped(site(path, 8), 1, 1)
    updated, ended = ev.ScalerUpdated(site(path, 8), 1), ev.EpochEnded(None, 1)
    yield ev.ScalerBuilt(site(path, 4), 1)
    for number in range(1, steps + 1):
        yield seen.BatchTaken(site(path, 5), 1, (x,))
        if number > 1:
            yield seen.MemorySeen(None, 0)
        yield clear
        if number < 3:
            yield seen.LayerSeen(site(path, 6), "0", "Linear", (x,), (out,))
            yield seen.ForwardSeen(site(path, 6), "model", (x,), (out,))
        if number == 1:
            yield seen.ScaleSeen(None, 1, 1024.0)
        yield scaled
        yield seen.AccuracySeen(site(path, 7), 1 - 1.0 / number, 8)
        yield seen.LossSeen(site(path, 7), 1.0 / number)
        yield seen.MemorySeen(None, 1024)
        yield backward
        if number < 3:
            yield seen.LayerGradientSeen(None, "0", 0.5)
        yield unscale
        yield seen.NormSeen(site(path, 8), (1,), 1.0, 4.0)
        yield clip
        if number % 5:
            yield seen.NormSeen(site(path, 8), (1,), 1.0)
        if number == 1:
            yield seen.RateSeen(None, 1, 0.1)
        yield skip if number % 5 == 0 else step
        yield tried
        yield updated
        if number % 4 == 0:
            yield ended
    yield ev.RunEnded(None)


def saved(path: Path, events: Iterable[ev.Event]) -> Path:
    recorder = Recorder(path, "0.1.0")
    for event in events:
        recorder.write(event)
    assert recorder.close() == []
    return path
