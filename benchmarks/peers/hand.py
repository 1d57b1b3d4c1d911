"""The careful loop by hand: mean losses divided by N, clipping of the sum, gradients set to None."""

from __future__ import annotations

import torch
from torch import nn

from peers.task import Epoch, Task, timed


def epochs(task: Task) -> Epoch:
    """As PyTorch's documentation and its tuning guide write it."""
    model, loader, every, loss_fn = task.model(), task.loader(), task.every, task.loss
    optimizer = task.optimizer(model.parameters())

    def epoch() -> None:
        for index, (x, y) in enumerate(loader):
            loss = loss_fn(model(x), y) / every
            loss.backward()
            if (index + 1) % every == 0:
                if task.clip is not None:
                    nn.utils.clip_grad_norm_(model.parameters(), task.clip)
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)

    scaler = torch.amp.GradScaler("cpu")

    def half() -> None:
        for index, (x, y) in enumerate(loader):
            with torch.autocast("cpu", torch.float16):
                loss = loss_fn(model(x), y) / every
            scaler.scale(loss).backward()
            if (index + 1) % every == 0:
                if task.clip is not None:
                    scaler.unscale_(optimizer)
                    nn.utils.clip_grad_norm_(model.parameters(), task.clip)
                scaler.step(optimizer)
                scaler.update()
                optimizer.zero_grad(set_to_none=True)

    return timed(half if task.fp16 else epoch)
