"""A run that is saved after two of four micro-batches and goes on in new objects."""

from __future__ import annotations

import tempfile
from pathlib import Path

from accelerate import Accelerator
from accelerate.state import AcceleratorState, GradientState

import gradledger
from peers.recorder import Gradients, Recorder
from peers.task import Task

STOP = 2
"""So many micro-batches are done when the run is saved."""


def accelerate(task: Task) -> list[Gradients]:
    """save_state(), load_state() and skip_first_batches(), as the guide to checkpointing shows them."""
    seen: list[Gradients] = []
    with tempfile.TemporaryDirectory() as folder:
        for part in ("before", "after"):
            AcceleratorState._reset_state(True)  # a new process would begin without it
            GradientState._reset_state()
            accelerator = Accelerator(cpu=True, gradient_accumulation_steps=task.every)
            model = task.model()
            model, optimizer, loader = accelerator.prepare(
                model, Recorder(model.parameters(), seen), task.loader()
            )
            if part == "after":
                accelerator.load_state(folder)
                loader = accelerator.skip_first_batches(loader, STOP)
            for number, (x, y) in enumerate(loader, 1):
                with accelerator.accumulate(model):
                    accelerator.backward(task.loss(model(x), y))
                    optimizer.step()
                    optimizer.zero_grad()
                if part == "before" and number == STOP:
                    accelerator.save_state(folder)
                    break
    return seen


def ours(task: Task) -> list[Gradients]:
    """acc.save() and acc.load()."""
    seen: list[Gradients] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.pt"
        for part in ("before", "after"):
            model = task.model()
            acc = gradledger.Accumulator(model, Recorder(model.parameters(), seen), every=task.every)
            if part == "after":
                acc.load(path)
            for number, (x, y) in enumerate(acc.batches(task.loader()), 1):
                acc.backward(task.loss(model(x), y), count=task.count(y))
                if part == "before" and number == STOP:
                    acc.save(path)
                    break
            if part == "before":
                acc.discard()
    return seen
