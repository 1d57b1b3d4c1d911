"""HF Trainer with `gradient_accumulation_steps`: a custom model, one that takes `**kwargs`, and a Llama."""

from __future__ import annotations

import tempfile
import time
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import SequentialSampler, TensorDataset, default_collate
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainerCallback, TrainingArguments
from transformers.trainer_callback import PrinterCallback
from transformers.utils import logging

from peers.task import Epoch, Task

logging.set_verbosity_error()


class Custom(nn.Module):
    """Computes its own mean loss, as the Trainer's documentation asks of a model."""

    def __init__(self, task: Task) -> None:
        super().__init__()
        self.net = task.model()
        self.task = task

    def forward(self, x: Tensor, labels: Tensor) -> dict[str, Tensor]:
        result = self.net(x)
        return {"loss": self.task.loss(result, labels), "logits": result}


class WithKwargs(Custom):
    """The same, and takes whatever else it is called with."""

    def forward(self, x: Tensor, labels: Tensor, **kwargs: Any) -> dict[str, Tensor]:
        return super().forward(x, labels)


class InOrder(Trainer):
    """Goes through the data in order, as all others here do."""

    def _get_train_sampler(self, *_: Any) -> Any:
        return SequentialSampler(self.train_dataset)


class Clock(TrainerCallback):
    """Times the epoch, not what `train` does around it."""

    start = 0.0
    seconds = 0.0

    def on_epoch_begin(self, *_: Any, **__: Any) -> None:
        self.start = time.process_time()

    def on_epoch_end(self, *_: Any, **__: Any) -> None:
        self.seconds = time.process_time() - self.start


def llama() -> nn.Module:
    """A native causal language model, as small as can be."""
    torch.manual_seed(0)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=17,
            hidden_size=16,
            intermediate_size=32,
            num_hidden_layers=1,
            num_attention_heads=2,
            num_key_value_heads=2,
            max_position_embeddings=32,
        )
    )


def _epochs(task: Task, model: nn.Module, names: tuple[str, str]) -> Epoch:
    clock = Clock()
    optimizer = task.optimizer(model.parameters())
    trainer = InOrder(
        model,
        TrainingArguments(
            output_dir=tempfile.gettempdir(),
            num_train_epochs=1,
            per_device_train_batch_size=task.batch_size,
            gradient_accumulation_steps=task.every,
            max_grad_norm=task.clip or 0.0,
            use_cpu=True,
            report_to=[],
            save_strategy="no",
            logging_strategy="no",
            disable_tqdm=True,
            remove_unused_columns=False,
        ),
        data_collator=lambda items: dict(zip(names, default_collate(items), strict=True)),
        train_dataset=TensorDataset(*task.data),
        optimizers=(optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, lambda _: 1.0)),
        callbacks=[clock],
    )

    trainer.remove_callback(PrinterCallback)

    def run() -> float:
        trainer.train()
        return clock.seconds

    return run


def custom(task: Task) -> Epoch:
    """A model of one's own."""
    return _epochs(task, Custom(task), ("x", "labels"))


def with_kwargs(task: Task) -> Epoch:
    """A model of one's own that accepts `**kwargs`."""
    return _epochs(task, WithKwargs(task), ("x", "labels"))


def native(task: Task) -> Epoch:
    """The library's own Llama, which the task has as its model."""
    return _epochs(task, task.model(), ("input_ids", "labels"))
