"""Detailed recordings of any length: a real one, the steps of its middle written again and again."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

SCRIPT = """\
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu")
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1000)
for x, y in zip(torch.randn(1200, 8, 10), torch.randn(1200, 8, 1)):
    optimizer.zero_grad()
    scaler.scale(nn.functional.mse_loss(model(x), y)).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    scheduler.step()
"""
CYCLE = 1_000
"""Steps that are repeated."""


@cache
def _real() -> tuple[str, str, str]:
    """A real recording: what comes before its middle, that, and what comes after."""
    with TemporaryDirectory() as folder:
        script, recording = Path(folder, "train.py"), Path(folder, "run.jsonl")
        script.write_text(SCRIPT, encoding="utf-8")
        call = [sys.executable, "-m", "gradledger", "trace", "--save", str(recording), str(script)]
        subprocess.run(call, check=True, capture_output=True, cwd=folder)
        lines = recording.read_text(encoding="utf-8").splitlines(keepends=True)
    advanced = next(line for line in lines if '"SchedulerStepped"' in line)  # the last event of each turn
    number = f"{advanced[1:].split(',')[0]}\n"
    turns = [at + 1 for at, line in enumerate(lines) if line == number]
    begin, end = turns[100], turns[100 + CYCLE]
    return "".join(lines[:begin]), "".join(lines[begin:end]), "".join(lines[end:])


def recording_of(size: int, folder: Path) -> tuple[Path, int]:
    """A recording of at least so many bytes, and how many steps it holds."""
    head, middle, tail = _real()
    times = max(1, -(-(size - len(head) - len(tail)) // len(middle)))
    return written(times, folder), 1200 + (times - 1) * CYCLE


def written(times: int, folder: Path) -> Path:
    """The recording with its middle so many times."""
    head, middle, tail = _real()
    path = folder / f"{times}.jsonl"
    with path.open("w", encoding="utf-8") as file:
        file.write(head)
        for _ in range(times):
            file.write(middle)
        file.write(tail)
    return path
