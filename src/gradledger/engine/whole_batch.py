"""One large batch, cut into micro-batches that fit into memory, and applied as one update."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import torch
from torch import Tensor, nn

from gradledger.engine import inputs, nesting
from gradledger.engine.cycle import Cycle
from gradledger.engine.policy import whole_number
from gradledger.engine.randomness import Randomness
from gradledger.engine.update import Update
from gradledger.ledger.errors import LedgerError
from gradledger.ledger.site import Site

LossFunction = Callable[[Any], Any]
"""From a micro-batch to its loss, to (loss, count), or to named terms with a count each."""


class WholeBatch:
    """Splits batches; remembers the micro-batch size that has fitted."""

    def __init__(self, cycle: Cycle, models: Sequence[nn.Module], device: torch.device) -> None:
        self._cycle = cycle
        self._models = models
        self._device = device
        self.fits: int | None = None

    def step(
        self, batch: Any, loss_fn: LossFunction, micro_batch: int | Literal["auto"], site: Site
    ) -> Update | None:
        """The update of the whole batch."""
        if self._cycle.window is not None:
            raise LedgerError(
                f"{site}: step_on() makes an update of its own, and a window is open since "
                f"{self._cycle.books.opened_at}. Call acc.flush() or acc.discard() first."
            )
        total = nesting.samples(batch)
        if micro_batch == "auto":
            return self._largest(batch, loss_fn, total, site)
        whole_number('micro_batch (or "auto")', micro_batch)
        pieces = nesting.split(batch, micro_batch)
        least, most = self._cycle.reduction.extremes(float(len(pieces)))
        if least != most and self._cycle.reduction.needs_equal_passes:
            pieces += pieces[-1:] * (int(most) - len(pieces))
        return self._run(pieces, loss_fn, site, real=-(-total // micro_batch), equal=least == most)

    def _largest(self, batch: Any, loss_fn: LossFunction, total: int, site: Site) -> Update | None:
        """Halve until it fits, on all ranks together; a failed attempt leaves nothing behind."""
        cycle = self._cycle
        if cycle.reduction.needs_equal_passes:
            raise ValueError(
                'micro_batch="auto" cannot work with FSDP2: a rank that runs out of memory leaves the '
                "others waiting "
                "in the middle of a forward. Give a number."
            )
        size = int(cycle.reduction.extremes(float(self.fits or total))[1])
        before = Randomness.take()
        buffers = [b.detach().clone() for model in self._models for b in model.buffers()]
        while True:
            pieces = nesting.split(batch, size)
            failure: BaseException | None = None
            try:
                self._run(pieces, loss_fn, site, real=len(pieces), equal=False, apply=False)
            except Exception as error:
                if not is_out_of_memory(error):
                    cycle.drop(site)
                    raise
                # Without its traceback: that holds on to the tensors which did not fit.
                failure = error.with_traceback(None)
            if cycle.reduction.extremes(float(failure is None))[0]:
                self.fits = size
                return cycle.finish_whole(site)
            cycle.drop(site)
            before.restore()
            self._restore(buffers)
            if size == 1:
                raise failure or MemoryError("another rank ran out of memory with a single sample")
            size = (size + 1) // 2
            if self._device.type == "cuda":
                torch.cuda.empty_cache()

    def _restore(self, saved: Sequence[Tensor]) -> None:
        with torch.no_grad():
            for buffer, value in zip((b for m in self._models for b in m.buffers()), saved, strict=True):
                buffer.copy_(value)

    def _run(
        self,
        pieces: Sequence[Any],
        loss_fn: LossFunction,
        site: Site,
        *,
        real: int,
        equal: bool,
        apply: bool = True,
    ) -> Update | None:
        cycle, update = self._cycle, None
        try:
            for number, piece in enumerate(pieces, 1):
                last = apply and number == len(pieces)
                cycle.left, cycle.ends = (len(pieces) - number + 1 if equal else 0), last and equal
                cycle.filler = number > real
                cycle.announce()
                with cycle.scaling.autocast():
                    result = loss_fn(piece)
                loss, count = result if isinstance(result, tuple) else (result, None)
                if count is None and isinstance(loss, Tensor):
                    count = nesting.samples(piece)
                terms = inputs.terms(loss, count, self._device)
                update = cycle.add(terms, site, closes=last)
        finally:
            cycle.left, cycle.ends, cycle.filler = 0, False, False
            cycle.announce()
        return update


def is_out_of_memory(error: BaseException) -> bool:
    """Whether this is what torch raises when memory runs out, on any device."""
    kinds = (getattr(torch, "OutOfMemoryError", torch.cuda.OutOfMemoryError), MemoryError)
    if isinstance(error, kinds):
        return True
    text = str(error)
    signs = ("out of memory", "not enough memory", "can't allocate memory", "CUBLAS_STATUS_ALLOC_FAILED")
    return isinstance(error, RuntimeError) and any(sign in text for sign in signs)
