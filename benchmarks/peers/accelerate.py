"""Accelerate: its guide to gradient accumulation, the usual way and the one for variable sizes."""

from __future__ import annotations

from itertools import islice

import torch
from accelerate import Accelerator

from peers.task import Epoch, Task, timed


def epochs(task: Task) -> Epoch:
    """The block `accumulate()`: steps and clearing are written as if every micro-batch were an update."""
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=task.every)
    model = task.model()
    optimizer = task.optimizer(model.parameters())
    model, optimizer, loader = accelerator.prepare(model, optimizer, task.loader())

    def epoch() -> None:
        for x, y in loader:
            with accelerator.accumulate(model):
                loss = task.loss(model(x), y)
                accelerator.backward(loss)
                if task.clip is not None and accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), task.clip)
                optimizer.step()
                optimizer.zero_grad()

    return timed(epoch)


def variable_sizes(task: Task) -> Epoch:
    """The recipe: collect the window's batches first, count them, and undo the division by N."""
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=task.every)
    model = task.model()
    optimizer = task.optimizer(model.parameters())
    model, optimizer, loader = accelerator.prepare(model, optimizer, task.loader())

    def epoch() -> None:
        source = iter(loader)
        while window := list(islice(source, task.every)):
            total = accelerator.gather(torch.tensor(sum(task.count(y) for _, y in window))).sum().item()
            for x, y in window:
                summed = task.loss(model(x), y) * task.count(y)
                accelerator.backward(summed * task.every * accelerator.num_processes / total)
            if task.clip is not None:
                accelerator.clip_grad_norm_(model.parameters(), task.clip)
            optimizer.step()
            optimizer.zero_grad()

    return timed(epoch)
