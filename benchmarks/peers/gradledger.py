"""gradledger: counts go in with the losses."""

from __future__ import annotations

import gradledger
from peers.task import Epoch, Task, timed


def epochs(task: Task) -> Epoch:
    """As the README shows it."""
    model, loader, loss_fn, count = task.model(), task.loader(), task.loss, task.count
    acc = gradledger.Accumulator(
        model,
        task.optimizer(model.parameters()),
        every=task.every,
        clip_norm=task.clip,
        precision="fp16" if task.fp16 else "fp32",
    )

    def epoch() -> None:
        for x, y in acc.batches(loader):
            loss = loss_fn(model(x), y)
            acc.backward(loss, count=count(y))

    def half() -> None:
        for x, y in acc.batches(loader):
            with acc.precision():
                loss = loss_fn(model(x), y)
            acc.backward(loss, count=count(y))

    return timed(half if task.fp16 else epoch)
