"""What the accumulator costs, beside other libraries: ratios to a careful loop by hand, one thread, CPU time.

Loops take turns in one process, each between two epochs of the loop by hand. Lightning, HF Trainer and Ignite
cannot be driven step by step: each turn is a short run of theirs. Lightning and HF Trainer are timed from the
start of the epoch to its end, Ignite over its whole run.

python benchmarks/engine.py            the tables
python benchmarks/engine.py --quick    fewer rounds
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import statistics
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from functools import partial

import torch
from torch import nn
from torch.nn import functional as F

import gradledger
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


def told(ratios: list[float]) -> str:
    """Median and spread."""
    quarters = statistics.quantiles(ratios, n=4)
    return f"{statistics.median(ratios):.3f}x ({quarters[0]:.3f} to {quarters[2]:.3f})"


def allocations(windows: int, every: int = 4) -> None:
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
    print("\nPython memory that acc.backward() takes at most, in bytes, by its place in the window:")
    print(f"early {early}, {windows} windows later {late}")
    print(f"meanwhile {more_objects - objects:+d} objects and {more_blocks - blocks:+d} blocks have stayed")


def peaks() -> None:
    """Peak memory; in another process, since torch's profiler talks while it works."""
    print("\nmemory of tensors at most in one update of a 4-layer transformer, above model and data:")
    call = [sys.executable, "-m", "peers.peak"]
    done = subprocess.run(call, capture_output=True, text=True, check=True, cwd=sys.path[0])
    found = json.loads(done.stdout.splitlines()[-1])
    full = max(found.values())
    for title, size in found.items():
        print(f"{title:<52} {size:6.1f} MiB   {size / full:.2f}x")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    rounds = 7 if arguments.quick else 21
    title = "CPU time of a micro-batch against the loop by hand"
    print(f"{title:<52} median (quartiles), {rounds} interleaved rounds")
    for task, goal, names in tasks():
        present = [name for name in names if _installed(name)]
        ratios = compare(task, present, rounds)
        for name in names:
            ours = f"   goal {goal:.2f}x" if goal is not None and name == "gradledger" else ""
            result = told(ratios[name]) if name in ratios else "not installed"
            print(f"{task.name:<26}{name:<26} {result}{ours}", flush=True)
    allocations(200 if arguments.quick else 1000)
    peaks()


def _installed(name: str) -> bool:
    try:
        builder(name)
    except ImportError:
        return False
    return True


if __name__ == "__main__":
    main()
