"""The accumulator: what a training loop calls."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any, Literal, TypeVar

import torch
from torch import Tensor, nn
from torch.amp.grad_scaler import GradScaler
from torch.optim import Optimizer

from gradledger.engine import batchnorm as normalisers
from gradledger.engine import checkpoint, inputs, nesting
from gradledger.engine.batches import Position, Walk
from gradledger.engine.batchnorm import Statistics
from gradledger.engine.books import Books
from gradledger.engine.cached import CoupledLoss, Encode, micro_batches, replay_in
from gradledger.engine.clipping import checked_clip
from gradledger.engine.closing import Closing
from gradledger.engine.custody import Custody
from gradledger.engine.cycle import Cycle
from gradledger.engine.generations import Generations
from gradledger.engine.lines import caller
from gradledger.engine.policy import Every, Policy, Tail
from gradledger.engine.precision import Precision, Scaling, WideGradients
from gradledger.engine.roster import Roster
from gradledger.engine.scheduling import Schedules
from gradledger.engine.update import Update
from gradledger.engine.verification import Verification
from gradledger.engine.verify import LossFn, verify
from gradledger.engine.whole_batch import LossFunction, WholeBatch
from gradledger.parallel.choosing import reduction_for
from gradledger.parallel.fsdp2 import Traffic

Batch = TypeVar("Batch")

Terms = dict[str, tuple[Tensor, Any]]
"""Loss terms by name, each with the number of things it is the mean of."""


class Accumulator:
    """Makes many small backward passes one update: exactly that of the large batch.

    A loss enters with its `count`, the samples or tokens it is the mean of. Gradients are summed, and divided
    once by what is inside when the window closes: uneven micro-batches, short tails, unequal ranks are exact.

    Args:
        model: The model, or several; DDP and FSDP2 are recognised.
        optimizer: The optimizer of its parameters, or several that step together.
        every: Micro-batches per update, or a function from the windows closed so far to that number.
        target_count: Close a window when the counts of all ranks reach this, instead of `every`.
        tail: What becomes of the open window at the end of the data: "flush", "carry" or "drop" it.
        reduction: "mean" if losses are means over `count` things, "sum" if they are sums.
        clip_norm: Bound of the norm of the window's gradient; a sequence gives each parameter group its own.
        clip_value: Bound of every value of the window's gradient.
        nonfinite: What to do with a NaN or infinite gradient: "skip" it, "warn" and skip, or "raise".
        precision: What `precision()` casts to: "fp32", "bf16" or "fp16".
        scaler: A gradient scaler of your own; fp16 makes one otherwise.
        accumulate_in: The type in which gradients are summed, such as torch.float32 for a bf16 model.
        scheduler: Advances with every applied update; one or several.
        epoch_scheduler: Advances with every epoch; one or several.
        keep_buffers: Clear gradients to zero instead of None.
        isolate: Let a backward reach only this accumulator's parameters; None: while several exist.
        group: Process group or device mesh of the data-parallel ranks, where the model does not tell.
        traffic: With FSDP2, reduce per "micro_batch" (less memory) or per "window" (less traffic).
        batchnorm: Move running statistics per "micro_batch", as torch does, or once per "window".
    """

    def __init__(
        self,
        model: nn.Module | Sequence[nn.Module],
        optimizer: Optimizer | Sequence[Optimizer],
        *,
        every: Every | None = None,
        target_count: float | None = None,
        tail: Tail = "flush",
        reduction: Literal["mean", "sum"] = "mean",
        clip_norm: float | Sequence[float] | None = None,
        clip_value: float | None = None,
        nonfinite: Literal["skip", "warn", "raise"] = "skip",
        precision: Precision = "fp32",
        scaler: GradScaler | None = None,
        accumulate_in: torch.dtype | None = None,
        scheduler: Any = None,
        epoch_scheduler: Any = None,
        keep_buffers: bool = False,
        isolate: bool | None = None,
        group: Any = None,
        traffic: Traffic = "micro_batch",
        batchnorm: Statistics = "micro_batch",
    ) -> None:
        site = caller()
        self._models = inputs.models(model)
        self._optimizers = inputs.optimizers(optimizer)
        self._tail: Tail = inputs.one_of(tail, ("flush", "carry", "drop"), "tail")
        inputs.one_of(reduction, ("mean", "sum"), "reduction")
        inputs.one_of(nonfinite, ("skip", "warn", "raise"), "nonfinite")
        inputs.one_of(traffic, ("micro_batch", "window"), "traffic")
        inputs.one_of(batchnorm, ("micro_batch", "window"), "batchnorm")
        policy = Policy(every, target_count)
        schedules = Schedules(scheduler, epoch_scheduler)
        roster = Roster(self._models, self._optimizers)
        parameters = roster.parameters
        device = inputs.device(parameters)
        clip = checked_clip(clip_norm, clip_value, sum(len(each.param_groups) for each in self._optimizers))
        scaling = Scaling(precision, scaler, device)
        put_together = reduction_for(self._models, group, device, traffic)
        wide = None if accumulate_in is None else WideGradients(parameters, accumulate_in)
        books = Books(parameters, self._optimizers[0], site)
        custody = Custody(self._optimizers, books)
        self._device = device
        self._custody = custody
        self._wide = wide
        self._position = Position()
        self._generations = Generations(put_together)
        self._cycle = Cycle(
            roster=roster,
            books=books,
            keeper=custody,
            policy=policy,
            scaling=scaling,
            schedules=schedules,
            reduction=put_together,
            closing=Closing(self._optimizers, custody, clip, put_together, wide),
            wide=wide,
            summed=reduction == "sum",
            clips=clip.norm is not None or clip.value is not None,
            nonfinite=nonfinite,
            to_none=not keep_buffers,
            isolate=isolate,
        )
        self._whole = WholeBatch(self._cycle, self._models, device)
        normalisers.settle(normalisers.layers(self._models), batchnorm, self._cycle, site)
        self._alarm = weakref.finalize(self, _say_what_is_lost, books)

    # -- what a loop uses -------------------------------------------------------------------------------

    def batches(self, loader: Iterable[Batch]) -> Iterator[Batch]:
        """The loader's batches; knows where windows and the epoch end, also after a resume in mid-epoch."""
        site = caller()
        yield from Walk(self._cycle, loader, self._position, self._tail).run(site)
        self._advance(None, asked=False)

    def precision(self) -> contextlib.AbstractContextManager[Any]:
        """The autocast context for forward and loss; does nothing in fp32."""
        return self._cycle.scaling.autocast()

    def backward(
        self, loss: Tensor | Terms, count: float | Tensor | None = None, *, last: bool = False
    ) -> Update | None:
        """Add a micro-batch; gives the update if that closes the window, else None.

        Args:
            loss: A scalar; or named terms with a count each: `{"lm": (loss, tokens), "aux": (aux, 1)}`.
            count: The samples, tokens or weight behind the loss.
            last: Close the window after this one.
        """
        terms = inputs.terms(loss, count, self._device)
        return self._cycle.add(terms, caller(), closes=True if last else None)

    def step_on(
        self, batch: Any, loss_fn: LossFunction, *, micro_batch: int | Literal["auto"] = "auto"
    ) -> Update | None:
        """Cut one large batch into micro-batches along its first dimension and make it one update.

        Args:
            batch: A tensor, or tuples, lists, dicts and dataclasses of them.
            loss_fn: From a micro-batch to its loss, or to (loss, count); its samples count otherwise. Runs in
                the accumulator's precision.
            micro_batch: Samples at once; "auto" finds the most that fit into memory, and remembers it.
        """
        return self._whole.step(batch, loss_fn, micro_batch, caller())

    def cached_backward(
        self,
        encode: Encode,
        batch: Any,
        loss_fn: CoupledLoss,
        *,
        micro_batch: int | None,
        count: float | Tensor | None = None,
        last: bool = False,
    ) -> Update | None:
        """Add a batch whose loss compares its samples with each other, as one micro-batch of the window.

        Args:
            encode: From a part of the batch to its embeddings; several encoders give a tuple or a dict.
            batch: The whole batch.
            loss_fn: From the embeddings of the whole batch to one number.
            micro_batch: How many samples are encoded at once; None if `batch` is a list of micro-batches.
            count: What the loss weighs in its window; the number of samples unless told.
            last: Close the window after this one.
        """
        site = caller()
        parts = micro_batches(batch, micro_batch)
        number = sum(map(nesting.samples, parts)) if count is None else count
        replay = replay_in(self._cycle, encode, parts, loss_fn)
        return self._cycle.add(
            inputs.terms(replay.loss, number, self._device),
            site,
            closes=True if last else None,
            through=replay.differentiate,
        )

    def verify(
        self,
        batches: Iterable[Batch],
        loss_fn: LossFn[Batch],
        *,
        collate: Callable[[list[Batch]], Batch] | None = None,
        tolerance: float | None = None,
    ) -> Verification:
        """Compare the gradient of a window with that of one full batch; nothing is changed by it.

        Args:
            batches: The micro-batches of one window.
            loss_fn: From a batch to its loss, to (loss, count), or to named terms with a count each.
            collate: Makes one batch of the list of micro-batches; they are concatenated unless told.
            tolerance: The relative error that still counts as equal.
        """
        return verify(self._cycle, self._models, list(batches), loss_fn, collate, tolerance=tolerance)

    def flush(self) -> Update | None:
        """Close the open window now, however short; None if none is open.

        Where several processes train, all of them call it; those that end early wait and help the others.
        """
        return self._cycle.finish(caller(), "flush")

    def discard(self) -> int:
        """Throw the open window away; gives how many micro-batches were in it."""
        held = self._cycle.books.waiting
        self._cycle.drop(caller())
        return held

    def end_epoch(self, metric: float | None = None) -> None:
        """End an epoch: treat the tail as declared, advance the epoch's schedulers.

        Loops over `batches()` need it only for schedulers that follow a metric.
        """
        self._cycle.finish(caller(), self._tail)
        self._advance(metric, asked=True)

    def _advance(self, metric: float | None, *, asked: bool) -> None:
        for scheduler in self._cycle.schedules.epoch_ended(metric, asked=asked):
            self._cycle.books.scheduled(caller(), scheduler)

    def on_applied(self, listener: Callable[[Update], None]) -> None:
        """Call this after every applied update: for averages of weights, counters, logs."""
        self._cycle.listeners.append(listener)

    @property
    def step(self) -> int:
        """How many updates have been applied."""
        return self._cycle.applied

    @property
    def waiting(self) -> int:
        """How many micro-batches are in the open window."""
        return self._cycle.books.waiting

    @property
    def last_update(self) -> Update | None:
        """The latest closed window, also one that was closed at the end of the data."""
        return self._cycle.last_update

    # -- ending and resuming ----------------------------------------------------------------------------

    def close(self) -> None:
        """Give the optimizer back; an open window is treated as declared for the tail."""
        if self._cycle.closed_at is None:
            site = caller()
            self._cycle.finish(site, self._tail)
            self._cycle.closed_at = site
            self._alarm.detach()
            self._custody.release()
            if self._cycle.statistics is not None:
                self._cycle.statistics.close()
            if self._wide is not None:
                self._wide.release()

    def __enter__(self) -> Accumulator:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None and self._cycle.closed_at is None:
            # A window that the block could not finish is not applied.
            self._cycle.drop(caller())
        self.close()

    def state_dict(self) -> dict[str, Any]:
        """The open window with its gradients, the counts, the place in the epoch, scaler and schedulers."""
        return checkpoint.state_of(self._cycle, self._position)

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from there; the open window, if there is one, is dropped."""
        checkpoint.load(state, self._cycle, self._position, caller())

    def save(self, path: str | os.PathLike[str], **extra: Any) -> None:
        """Write model, optimizer, accumulator and the random numbers' state, whole or not at all.

        With DDP every rank writes a file of its own, with its number in the name; a model sharded by FSDP2 is
        written by all ranks into a folder, with torch.distributed.checkpoint. Call it on every rank.
        """
        checkpoint.save(path, self._cycle, self._position, self._generations, extra)

    def load(self, path: str | os.PathLike[str]) -> dict[str, Any]:
        """Read what `save` has written; gives back its extra values."""
        extra = checkpoint.resume(
            path, self._cycle, self._position, self._generations, caller(), or_none=False
        )
        assert extra is not None
        return extra

    def resume(self, path: str | os.PathLike[str]) -> dict[str, Any] | None:
        """Read what `save` has written, if it has; gives back its extra values, or None at the beginning.

        For jobs that are restarted: several ranks go on from the newest moment that all of them have saved.
        """
        return checkpoint.resume(path, self._cycle, self._position, self._generations, caller(), or_none=True)

    def __repr__(self) -> str:
        return f"<gradledger.Accumulator: {self.step} updates applied, {self.waiting} micro-batches waiting>"


def _say_what_is_lost(books: Books) -> None:
    """An accumulator is gone, and its open window with it."""
    if books.waiting and not hasattr(
        sys, "last_value"
    ):  # a program that crashed has more important things to say
        warnings.warn(
            f"gradledger: {books.waiting} micro-batches since {books.opened_at} were never applied: "
            "call acc.flush() at the end of the data, or acc.discard() to drop them on purpose",
            RuntimeWarning,
            stacklevel=2,
        )
