"""Lightning: `accumulate_grad_batches`, and the loop of its guide to manual optimization."""

from __future__ import annotations

import logging
import time
import warnings
from typing import Any

import lightning
from torch import Tensor

from peers.task import Epoch, Task


class Automatic(lightning.LightningModule):
    """The Trainer accumulates, clips and steps."""

    def __init__(self, task: Task) -> None:
        super().__init__()
        self.net = task.model()
        self.task = task

    def training_step(self, batch: Any, index: int) -> Tensor | None:
        x, y = batch
        return self.task.loss(self.net(x), y)

    def configure_optimizers(self) -> Any:
        return self.task.optimizer(self.net.parameters())


class Manual(Automatic):
    """The module does."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.automatic_optimization = False

    def training_step(self, batch: Any, index: int) -> Tensor | None:
        x, y = batch
        optimizer = self.optimizers()
        loss = self.task.loss(self.net(x), y) / self.task.every
        self.manual_backward(loss)
        if (index + 1) % self.task.every == 0:
            if self.task.clip is not None:
                self.clip_gradients(optimizer, self.task.clip, gradient_clip_algorithm="norm")
            optimizer.step()
            optimizer.zero_grad()
        return None


class Clock(lightning.Callback):
    """Times the epoch, not what `fit` does around it."""

    start = 0.0
    seconds = 0.0

    def on_train_epoch_start(self, *_: Any) -> None:
        self.start = time.process_time()

    def on_train_epoch_end(self, *_: Any) -> None:
        self.seconds = time.process_time() - self.start


def _epochs(task: Task, module: Automatic, options: dict[str, Any]) -> Epoch:
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module="lightning")
    warnings.filterwarnings("ignore", message=".*(num_workers|GPU available|litlogger|isinstance).*")
    loader = task.loader()

    def run() -> float:
        clock = Clock()
        trainer = lightning.Trainer(
            max_epochs=1,
            accelerator="cpu",
            devices=1,
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            callbacks=[clock],
            **options,
        )
        trainer.fit(module, loader)
        return clock.seconds

    return run


def automatic(task: Task) -> Epoch:
    """The Trainer's options."""
    options = {"accumulate_grad_batches": task.every, "gradient_clip_val": task.clip}
    return _epochs(task, Automatic(task), options)


def manual(task: Task) -> Epoch:
    """Manual optimization."""
    return _epochs(task, Manual(task), {})
