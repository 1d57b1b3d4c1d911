"""What the accumulator costs, beside other libraries: ratios to a careful loop by hand, one thread, CPU time.

Loops take turns in one process, each between two epochs of the loop by hand. Lightning, HF Trainer and Ignite
cannot be driven step by step: each turn is a short run of theirs. Lightning and HF Trainer are timed from the
start of the epoch to its end, Ignite over its whole run.

python benchmarks/engine.py            the tables, also into the pages
python benchmarks/engine.py --quick    fewer rounds, printed only
"""

from __future__ import annotations

import gc
import importlib
import json
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import nn
from torch.nn import functional as F

import gradledger
from figures.tables import Table, run, setting, spread
from peers import hand
from peers.task import Epoch, Task

Build = Callable[[Task], Epoch]

PEERS = {
    "gradledger": ("gradledger", "epochs"),
    "Ignite": ("ignite", "epochs"),
    "Fabric": ("fabric", "epochs"),
    "Accelerate": ("accelerate", "epochs"),
    "HF Trainer": ("transformers", "custom"),
    "Lightning, manual": ("lightning", "manual"),
    "Lightning, automatic": ("lightning", "automatic"),
}
PACKAGES = ("torch", "accelerate", "lightning", "pytorch-ignite", "transformers")


def mlp() -> nn.Module:
    """The MLP 10-32-1."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))


def transformer() -> nn.Module:
    """Four encoder layers of width 64."""
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True)
    return nn.Sequential(nn.TransformerEncoder(layer, 4, enable_nested_tensor=False), nn.Linear(64, 8))


def tasks() -> list[tuple[Task, float | None, list[str]]]:
    """What is trained, the goal for gradledger, and who takes part."""
    torch.manual_seed(1)
    adamw = partial(torch.optim.AdamW, lr=1e-3)
    points = torch.randn(512, 10), torch.randn(512, 1)
    sequences = torch.randn(64, 32, 64), torch.randn(64, 32, 8)
    base = partial(Task, every=4, batch_size=8, loss=F.mse_loss, clip=1.0)
    fused = partial(adamw, fused=True)
    ours = ["gradledger"]
    return [
        (base("tiny MLP", mlp, points, optimizer=adamw), 1.03, list(PEERS)),
        (base("tiny MLP, no loader", mlp, points, optimizer=adamw, at_hand=True), None, ours),
        (base("tiny MLP, fp16, fused", mlp, points, optimizer=fused, fp16=True), 1.00, ours),
        (base("transformer, 4 layers", transformer, sequences, optimizer=adamw), None, list(PEERS)),
    ]


def builder(name: str) -> Build:
    """How this library trains a task."""
    module, function = PEERS[name]
    return getattr(importlib.import_module(f"peers.{module}"), function)  # type: ignore[no-any-return]


def compare(task: Task, names: list[str], rounds: int) -> dict[str, list[float]]:
    """For each library the ratio to the loop by hand, once for each round."""
    if "HF Trainer" in names and len(names) > 1:
        # Its Trainer sets the length of Accelerate's windows, which is one for the whole process.
        first = compare(task, [name for name in names if name != "HF Trainer"], rounds)
        return first | compare(task, ["HF Trainer"], rounds)
    plain = hand.epochs(task)
    others = {name: builder(name)(task) for name in names}
    for warm in (plain, *others.values()):
        warm()
        warm()
    ratios: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(rounds):
        gc.collect()
        before = plain()
        for name, epoch in others.items():
            mine = epoch()
            after = plain()
            ratios[name].append(2 * mine / (before + after))
            before = after
    return ratios


def allocations(windows: int, every: int = 4) -> Table:
    """What a micro-batch allocates in Python, in an early window and in a late one, and what stays."""
    model, x, y = mlp(), torch.randn(8, 10), torch.randn(8, 1)
    acc = gradledger.Accumulator(model, torch.optim.AdamW(model.parameters()), every=every, clip_norm=1.0)

    def window() -> list[int]:
        peaks = []
        for _ in range(every):
            loss = F.mse_loss(model(x), y)
            tracemalloc.reset_peak()
            held = tracemalloc.get_traced_memory()[0]
            acc.backward(loss, count=8)
            peaks.append(tracemalloc.get_traced_memory()[1] - held)
        return peaks

    def look() -> tuple[list[int], int, int]:
        # The smallest of some windows: the first calls after a collection allocate caches of Python's own.
        peaks = [min(each) for each in zip(*(window() for _ in range(5)), strict=True)]
        gc.collect()
        return peaks, len(gc.get_objects()), sys.getallocatedblocks()

    tracemalloc.start()
    for _ in range(10):
        window()
    early, objects, blocks = look()
    for _ in range(windows):
        window()
    late, more_objects, more_blocks = look()
    tracemalloc.stop()
    places = tuple(f"{place} of {every}" for place in range(1, every + 1))
    rows = [("early", *map(str, early)), (f"{windows} windows later", *map(str, late))]
    stayed = f"{more_objects - objects:+d} objects and {more_blocks - blocks:+d} blocks"
    note = f"Bytes of Python's own memory. Meanwhile {stayed} have stayed."
    return Table("engine-allocations", ("`acc.backward()` takes at most", *places), rows, note)


def peaks() -> Table:
    """Peak memory; in another process, since torch's profiler talks while it works."""
    call = [sys.executable, "-m", "peers.peak"]
    done = subprocess.run(call, capture_output=True, text=True, check=True, cwd=sys.path[0])
    found = json.loads(done.stdout.splitlines()[-1])
    full = max(found.values())
    rows = [(title, f"{size:.1f} MiB", f"{size / full:.2f}") for title, size in found.items()]
    columns = ("one update of a 4-layer transformer", "memory of tensors above model and data", "ratio")
    return Table("engine-memory", columns, rows)


def costs(rounds: int) -> Table:
    """Every library on every task it takes part in."""
    cells: dict[str, dict[str, str]] = {name: {} for name in PEERS}
    columns = []
    for task, goal, names in tasks():
        columns.append(task.name if goal is None else f"{task.name} (goal {goal:.2f})")
        ratios = compare(task, [name for name in names if _installed(name)], rounds)
        for name in names:
            cells[name][columns[-1]] = spread(ratios[name]) if name in ratios else "not installed"
    rows = [(name, *(found.get(column, "–") for column in columns)) for name, found in cells.items()]
    note = (
        "CPU time of an epoch against a careful loop by hand over the same data; median and quartiles of "
        f"{rounds} rounds in turns. {setting(*PACKAGES)}"
    )
    return Table("engine", ("", *columns), rows, note)


def tables(quick: bool) -> Iterator[Table]:
    """All of them."""
    torch.set_num_threads(1)
    yield costs(7 if quick else 21)
    yield allocations(200 if quick else 1000)
    yield peaks()


def _installed(name: str) -> bool:
    try:
        builder(name)
    except ImportError:
        return False
    return True


if __name__ == "__main__":
    run(__doc__, tables)
