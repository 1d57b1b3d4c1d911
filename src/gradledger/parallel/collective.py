"""Numbers and gradients summed over a process group."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor

from gradledger.ledger.errors import LedgerError

_Found = TypeVar("_Found")
_Given = ParamSpec("_Given")

_BUCKET = 25 * 2**20
"""Bytes sent at once."""

_BACKENDS = ("gloo", "nccl", "mpi_", "connection closed by peer", "connection reset by peer")
"""Words that only the libraries beneath torch.distributed use."""


def _answered(talk: Callable[_Given, _Found]) -> Callable[_Given, _Found]:
    """Say in words that another rank does not answer; torch speaks of sockets."""

    @wraps(talk)
    def asked(*args: _Given.args, **kwargs: _Given.kwargs) -> _Found:
        try:
            return talk(*args, **kwargs)
        except RuntimeError as error:
            raise lost_contact(error) from error

    return asked


def lost_contact(error: RuntimeError) -> LedgerError:
    """The words for it, with the first of torch's."""
    reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
    return LedgerError(
        f"rank {dist.get_rank()} lost contact with the others: a rank has ended, hangs, or runs "
        f"other code at this point. The window is not applied. ({reason})"
    )


def is_of_talking(error: BaseException) -> bool:
    """Whether an error that came out of a backward is one of the talk between ranks, not of the program."""
    if isinstance(error, dist.DistError):
        return True
    return isinstance(error, RuntimeError) and any(word in str(error).lower() for word in _BACKENDS)


@_answered
def sums(values: Sequence[float], group: dist.ProcessGroup | None, device: torch.device) -> list[float]:
    """Numbers summed over the group, in double precision."""
    numbers = torch.tensor(list(values), dtype=torch.float64, device=device)
    dist.all_reduce(numbers, group=group)
    return [float(number) for number in numbers.tolist()]


@_answered
def extremes(value: float, group: dist.ProcessGroup | None, device: torch.device) -> tuple[float, float]:
    """The smallest and the largest of a number over the group."""
    pair = torch.tensor([-value, value], dtype=torch.float64, device=device)
    dist.all_reduce(pair, op=dist.ReduceOp.MAX, group=group)
    low, high = pair.tolist()
    return -low, high


@_answered
def gathered(value: Any, group: dist.ProcessGroup | None) -> list[Any]:
    """The plain values of all ranks of the group, in their order."""
    values = [None] * dist.get_world_size(group)
    dist.all_gather_object(values, value, group=group)
    return values


@_answered
def summed(
    gradients: Sequence[Tensor | None], like: Sequence[Tensor], group: dist.ProcessGroup | None
) -> list[Tensor | None]:
    """Gradients summed over the group; one that no rank has stays None, elsewhere a missing one is zero."""
    device = like[0].device
    there = torch.tensor([g is not None for g in gradients], dtype=torch.int32, device=device)
    dist.all_reduce(there, op=dist.ReduceOp.MAX, group=group)
    full: list[Tensor | None] = [
        (torch.zeros_like(p) if g is None else g) if known else None
        for g, p, known in zip(gradients, like, there.tolist(), strict=True)
    ]
    for bucket in _buckets([g for g in full if g is not None]):
        flat = torch.cat([g.reshape(-1) for g in bucket])
        dist.all_reduce(flat, group=group)
        parts = torch.split(flat, [g.numel() for g in bucket])
        torch._foreach_copy_(bucket, [part.view_as(g) for part, g in zip(parts, bucket, strict=True)])
    return full


def _buckets(tensors: Sequence[Tensor]) -> Iterator[list[Tensor]]:
    bucket: list[Tensor] = []
    size = 0
    for tensor in tensors:
        if bucket and (bucket[0].dtype != tensor.dtype or size > _BUCKET):
            yield bucket
            bucket, size = [], 0
        bucket.append(tensor)
        size += tensor.numel() * tensor.element_size()
    if bucket:
        yield bucket
