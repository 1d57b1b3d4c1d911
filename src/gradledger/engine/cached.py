"""Losses that compare samples with each other, exact for the whole batch at a micro-batch's memory."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from gradledger.engine import nesting
from gradledger.engine.cycle import Cycle
from gradledger.engine.differentiating import differentiate_all, openly
from gradledger.engine.randomness import Randomness
from gradledger.engine.rehearsal import modules_of, rehearsal
from gradledger.ledger.errors import LedgerError

Encode = Callable[[Any], Any]
"""From a micro-batch to its embeddings: a tensor, or several in a tuple, list, mapping or dataclass."""

CoupledLoss = Callable[[Any], Tensor]
"""From the embeddings of the whole batch, nested as `Encode` gives them, to the loss."""

Context = Callable[[], contextlib.AbstractContextManager[Any]]


def cached_backward(
    encode: Encode,
    batch: Any,
    loss_fn: CoupledLoss,
    *,
    micro_batch: int | None,
    no_sync: Context | None = None,
) -> Tensor:
    """Add the gradient of `loss_fn(encode(batch))` to `.grad`, and give the loss.

    Embeddings are computed without a graph; the loss gives their gradient; then each micro-batch is encoded
    again with the random numbers of the first time and carries its part of that gradient back. That is exact
    for any loss, and holds one micro-batch's graph at a time. It costs one more forward.

    Args:
        encode: From a micro-batch to its embeddings; several encoders give a tuple or a dict.
        batch: The whole batch, nested as you like.
        loss_fn: From all embeddings to one number; its own parameters get their gradient too.
        micro_batch: How many samples are encoded at once; None if `batch` is a list of micro-batches.
        no_sync: Of a DistributedDataParallel model, so that only the last micro-batch is reduced.
    """
    replay = Replay(encode, micro_batches(batch, micro_batch), loss_fn)
    replay.run = openly
    quiet = no_sync or contextlib.nullcontext
    replay.around = lambda final: contextlib.nullcontext() if final else quiet()
    replay.differentiate(replay.loss, torch.ones_like(replay.loss), ())
    return replay.loss.detach()


def micro_batches(batch: Any, size: int | None) -> list[Any]:
    """The parts of a batch, which may be cut already."""
    if size is not None:
        return nesting.split(batch, size)
    if not isinstance(batch, (list, tuple)) or not batch:
        raise ValueError("with micro_batch=None the batch must be a list of micro-batches")
    return list(batch)


def replay_in(cycle: Cycle, encode: Encode, parts: Sequence[Any], loss_fn: CoupledLoss) -> Replay:
    """A replay whose passes belong to one micro-batch of a window."""
    reduction = cycle.reduction
    if reduction.needs_equal_passes:
        least, most = reduction.extremes(float(len(parts)))
        if least != most:
            raise LedgerError(
                f"the ranks cut their batches into {least:.0f} to {most:.0f} micro-batches, and sharded "
                "training needs the same number on every rank"
            )
    # DDP reduces what one backward reaches, and this takes several: the sum is taken when the window closes.
    reduction.before_forward(last=None)
    replay = Replay(encode, parts, loss_fn, cycle.scaling.fresh)

    @contextlib.contextmanager
    def around(final: bool) -> Iterator[None]:  # noqa: FBT001
        reduction.before_backward(last=final and cycle.closes)
        yield

    replay.around = around
    return replay


class Replay:
    """A loss of cached embeddings, and the way back from it into the encoder."""

    def __init__(
        self,
        encode: Encode,
        parts: Sequence[Any],
        loss_fn: CoupledLoss,
        precision: Context = contextlib.nullcontext,
    ) -> None:
        self._encode = encode
        self._parts = parts
        self._precision = precision
        self._states: list[Randomness] = []
        self.around: Callable[[bool], contextlib.AbstractContextManager[Any]] = _anywhere
        """What a replay runs in; told whether it is the last one."""
        self.run = differentiate_all
        """What differentiates; the accumulator keeps its own books of it."""
        outputs = self._first_look()
        self._sizes = [[each.shape[0] for each in nesting.tensors(o)] for o in outputs]
        whole = nesting.mapped(nesting.concatenate(outputs, "encode(...)"), _leaf)
        self._tensors = list(nesting.tensors(whole))
        del outputs
        # Weights that autocast has cast without a graph must not be taken for those of the replay.
        torch.clear_autocast_cache()
        with torch.enable_grad(), precision():
            self.loss = loss_fn(whole)
        _check(self.loss)
        self._after = Randomness.take()

    def _first_look(self) -> list[Any]:
        outputs = []
        known = modules_of(self._encode)
        with rehearsal(known, speak_of_batchnorm=True), torch.no_grad(), self._precision():
            for part in self._parts:
                self._states.append(Randomness.take())
                outputs.append(self._encode(part))
                if not all(each.dim() for each in nesting.tensors(outputs[-1])):
                    raise ValueError(
                        "encode(...) gave a single number: embeddings have a first dimension of samples"
                    )
        return outputs

    def differentiate(
        self, loss: Tensor, root: Tensor, inputs: Sequence[Tensor], *, keep_graph: bool = False
    ) -> None:
        """Add the loss's gradient times `root` to `.grad`, by way of the embeddings."""
        leaves = [each for each in self._tensors if each.requires_grad]
        try:
            with _full_precision(leaves):
                self.run([loss], [root], [*inputs, *leaves] if inputs else (), keep_graph=keep_graph)
            for number, (part, state) in enumerate(zip(self._parts, self._states, strict=True)):
                state.restore()
                torch.clear_autocast_cache()
                with self.around(number + 1 == len(self._parts)):
                    self._carry_back(number, part, inputs)
        finally:
            for leaf in leaves:
                leaf.grad = None
            # As if the encoder had run once, and then the loss.
            self._after.restore()
            torch.clear_autocast_cache()

    def _carry_back(self, number: int, part: Any, inputs: Sequence[Tensor]) -> None:
        with torch.enable_grad(), self._precision():
            outputs = list(nesting.tensors(self._encode(part)))
        if [each.shape[0] for each in outputs] != self._sizes[number]:
            raise ValueError("encode(...) gave embeddings of another shape when the micro-batch was replayed")
        roots: list[tuple[Tensor, Tensor]] = []
        for index, (output, whole) in enumerate(zip(outputs, self._tensors, strict=True)):
            if whole.grad is None or not output.requires_grad:
                continue
            start = sum(sizes[index] for sizes in self._sizes[:number])
            roots.append((output, whole.grad[start : start + output.shape[0]]))
        if not roots:
            if any(each.grad is not None for each in self._tensors):
                raise ValueError("the embeddings need no gradient: encode(...) detaches them, or is frozen")
            return
        with _full_precision(outputs):
            self.run([output for output, _ in roots], [root for _, root in roots], inputs)


def _leaf(tensor: Tensor) -> Tensor:
    """An embedding to be differentiated by; labels and other whole numbers go through as they are."""
    return tensor.detach().requires_grad_() if tensor.is_floating_point() else tensor


def _check(loss: Any) -> None:
    if not isinstance(loss, Tensor) or loss.numel() != 1:
        raise ValueError("loss_fn must give one number, as a tensor")
    if not loss.requires_grad:
        raise ValueError("the loss needs no gradient: loss_fn detaches the embeddings, or does not use them")


def _anywhere(final: bool) -> contextlib.AbstractContextManager[Any]:  # noqa: ARG001, FBT001
    return contextlib.nullcontext()


@contextlib.contextmanager
def _full_precision(near: Sequence[Tensor]) -> Iterator[None]:
    """No autocast: a backward computes in the precision its forward has chosen."""
    with contextlib.ExitStack() as stack:
        for kind in {"cpu", *(each.device.type for each in near)}:
            if torch.is_autocast_enabled(kind):
                stack.enter_context(torch.autocast(kind, enabled=False))
        yield
