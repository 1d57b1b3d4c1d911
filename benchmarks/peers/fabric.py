"""Lightning Fabric: its guide to gradient accumulation, corrected and word for word."""

from __future__ import annotations

from typing import Any

from lightning.fabric import Fabric

from peers.task import Epoch, Task, timed


def _set_up(task: Task) -> tuple[Fabric, Any, Any, Any]:
    fabric = Fabric(accelerator="cpu", devices=1)
    model = task.model()
    model, optimizer = fabric.setup(model, task.optimizer(model.parameters()))
    return fabric, model, optimizer, fabric.setup_dataloaders(task.loader())


def epochs(task: Task) -> Epoch:
    """Corrected: divides by N, and steps after the N-th micro-batch."""
    fabric, model, optimizer, loader = _set_up(task)

    def epoch() -> None:
        for index, (x, y) in enumerate(loader):
            is_accumulating = (index + 1) % task.every != 0
            with fabric.no_backward_sync(model, enabled=is_accumulating):
                loss = task.loss(model(x), y) / task.every
                fabric.backward(loss)
            if not is_accumulating:
                if task.clip is not None:
                    fabric.clip_gradients(model, optimizer, max_norm=task.clip)
                optimizer.step()
                optimizer.zero_grad()

    return timed(epoch)


def word_for_word(task: Task) -> Epoch:
    """As the guide prints it: no division, and the first micro-batch is a window of its own."""
    fabric, model, optimizer, loader = _set_up(task)

    def epoch() -> None:
        for index, (x, y) in enumerate(loader):
            is_accumulating = index % task.every != 0
            with fabric.no_backward_sync(model, enabled=is_accumulating):
                loss = task.loss(model(x), y)
                fabric.backward(loss)
            if not is_accumulating:
                optimizer.step()
                optimizer.zero_grad()

    return timed(epoch)
