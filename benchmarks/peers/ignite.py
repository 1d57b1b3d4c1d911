"""Ignite: its supervised trainer with `gradient_accumulation_steps`."""

from __future__ import annotations

import time
from typing import Any

import torch
from ignite.engine import Engine, create_supervised_trainer
from torch import nn

from peers.task import Epoch, Task


def epochs(task: Task) -> Epoch:
    """The factory, or its documented update function with a clipping put in."""
    model, loader = task.model(), task.loader()
    optimizer = task.optimizer(model.parameters())

    def update(engine: Engine, batch: Any) -> float:
        # The update function that Ignite's documentation shows for accumulation.
        model.train()
        x, y = batch
        loss = task.loss(model(x), y) / task.every
        loss.backward()
        if engine.state.iteration % task.every == 0:
            nn.utils.clip_grad_norm_(model.parameters(), task.clip or torch.inf)
            optimizer.step()
            optimizer.zero_grad()
        return loss.item()

    if task.clip is None:
        trainer = create_supervised_trainer(
            model, optimizer, task.loss, device="cpu", gradient_accumulation_steps=task.every
        )
    else:
        trainer = Engine(update)

    def run() -> float:
        start = time.process_time()
        trainer.run(loader, max_epochs=1)
        return time.process_time() - start

    return run
