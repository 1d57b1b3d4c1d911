"""One window of a Transformers Trainer: compared with its full batch, or weighed so that it is exact."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from gradledger.engine.randomness import Randomness
from gradledger.engine.untouched import untouched
from gradledger.engine.verification import Comparison, Verification, compare
from gradledger.integrations.counting import Count, counted
from gradledger.runtime.graphs import loss_facts

IGNORED = -100


class Weighing:
    """Stands between a Trainer and its losses."""

    def __init__(self, trainer: Any, count: Count | None) -> None:
        if not hasattr(trainer, "loss_is_scaled_for_ga"):
            raise ValueError("exact(trainer) needs a newer transformers, with Trainer.loss_is_scaled_for_ga")
        if trainer.compute_loss_func is not None:
            raise ValueError(
                "this Trainer has a compute_loss_func, which owns the normalisation: divide the sum of its "
                "losses by num_items_in_batch there"
            )
        self._trainer = trainer
        self._count = count or (lambda batch: labels_in(batch, shifted=trainer._loss_shifts_labels))
        self._sure = count is not None
        self._samples = trainer.get_batch_samples
        self._loss = trainer.compute_loss
        self._total: Tensor | None = None

    def install(self) -> None:
        """Take the place of the Trainer's methods, on this object only."""
        self._trainer.get_batch_samples = self._collected
        self._trainer.compute_loss = self._weighed
        self._trainer.loss_is_scaled_for_ga = True

    def _collected(self, *args: Any, **kwargs: Any) -> Any:
        """The batches of a window, counted before the first of them runs."""
        samples, items = self._samples(*args, **kwargs)
        accelerator = self._trainer.accelerator
        total = torch.tensor(
            float(sum(self._count(batch) for batch in samples)),
            dtype=torch.float64,
            device=accelerator.device,
        )
        self._total = accelerator.gather(total.reshape(1)).sum() if accelerator.num_processes > 1 else total
        return samples, items

    def _weighed(
        self,
        model: Any,
        inputs: Any,
        return_outputs: bool = False,  # noqa: FBT001, FBT002  the Trainer's signature
        num_items_in_batch: Any = None,
        **more: Any,
    ) -> Any:
        if not model.training:
            return self._loss(model, inputs, return_outputs, num_items_in_batch, **more)
        number = float(self._count(inputs))
        mean = self._loss(model, inputs, return_outputs, None, **more)
        if not number:  # the mean of nothing is not a number, and would spoil the window
            nothing = sum(p.sum() * 0.0 for p in model.parameters() if p.requires_grad)
            return (nothing, *mean[1:]) if return_outputs else nothing
        if not self._sure:
            _agree(mean[0] if return_outputs else mean, number)
        assert self._total is not None, "compute_loss() in training, outside of a window"
        # Gradients are averaged over the processes; the window is that of all of them.
        weight = number * self._trainer.accelerator.num_processes / float(self._total)
        return (mean[0] * weight, *mean[1:]) if return_outputs else mean * weight


def _agree(loss: Tensor, number: float) -> None:
    """Labels were counted; a loss that is the mean of another number of things must not pass silently."""
    facts = loss_facts(loss.grad_fn, scaled=False)
    if facts.reduction == "mean" and facts.count is not None and facts.count % number:
        counted_on = f"the mean of {facts.count:g} things, and {number:g} labels were counted"
        raise ValueError(
            f"this loss is {counted_on}: pass count= to exact(), a function from the batch to what its loss "
            "is the mean of"
        )


def labels_in(batch: Any, *, shifted: bool) -> float:
    """How many labels count, or samples if there are none."""
    labels = batch.get("shift_labels")
    if labels is None:
        labels = batch.get("labels")
        if labels is None:
            return float(len(next(value for value in batch.values() if isinstance(value, Tensor))))
        labels = labels[..., 1:] if shifted else labels
    return float((labels != IGNORED).sum()) if not labels.is_floating_point() else float(len(labels))


def compare_window(trainer: Any, count: Count | None, tolerance: float) -> Verification:
    """Run one window as the Trainer does, and as one batch."""
    if trainer.args.world_size > 1:
        raise ValueError("verify compares the gradients of one process: call it without torchrun")
    model = trainer.model_wrapped
    named = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
    parameters = [p for _, p in named]
    with untouched(list(model.modules()), parameters):
        samples, items = trainer.get_batch_samples(
            iter(trainer.get_train_dataloader()),
            trainer.args.gradient_accumulation_steps,
            trainer.args.device,
        )
        if not samples:
            raise ValueError("verify needs a train_dataset with at least one batch")
        start = Randomness.take()
        window = _as_the_trainer(trainer, model, samples, items, parameters)
        start.restore()
        whole = _as_one_batch(trainer, model, samples, count, parameters)
    found = compare(window, whole, [name for name, _ in named], tolerance)
    causes = () if found.ok else (_cause(trainer, found, len(samples)),)
    return Verification(found.ok, found.error, found.scale, tolerance, len(samples), causes, (), found.rows)


def _as_the_trainer(
    trainer: Any, model: Any, samples: list[Any], items: Any, parameters: list[Tensor]
) -> list[Tensor | None]:
    trainer.current_gradient_accumulation_steps = len(samples)
    for batch in samples:
        trainer.training_step(model, dict(batch), items)
    scaler = trainer.accelerator.scaler
    scale = 1.0 if scaler is None else scaler.get_scale()
    return [_taken(p, 1.0 / scale) for p in parameters]


def _as_one_batch(
    trainer: Any, model: Any, samples: list[Any], count: Count | None, parameters: list[Tensor]
) -> list[Tensor | None]:
    """The gradient of the mean over all that the window counts: no padding is needed for that."""
    plain = getattr(trainer.compute_loss, "__self__", None)
    compute = plain._loss if isinstance(plain, Weighing) else trainer.compute_loss
    total = 0.0
    for batch in samples:
        inputs = trainer._prepare_inputs(dict(batch))
        with trainer.compute_loss_context_manager():
            loss = compute(model, inputs, num_items_in_batch=None)
        number = counted(loss, batch, count)
        total += number
        (loss * number).backward()
    return [_taken(p, 1.0 / total) for p in parameters]


def _taken(parameter: Tensor, factor: float) -> Tensor | None:
    gradient, parameter.grad = parameter.grad, None
    return None if gradient is None else gradient * factor


def _cause(trainer: Any, found: Comparison, batches: int) -> str:
    cure = "; gradledger.integrations.transformers.exact(trainer) makes it exact"
    if batches > 1 and found.scale > 1.5 and trainer.model_accepts_loss_kwargs:
        return (
            f"the gradient is {found.scale:.3g} times that of the full batch: the model's forward takes "
            "**kwargs, so the Trainer takes its loss for one already divided by num_items_in_batch, and does "
            f"not divide it by the {batches} micro-batches{cure}"
        )
    equals = "micro-batches of different size or token count are averaged as equals"
    return f"{equals} (error {found.error:.2g}){cure}"
