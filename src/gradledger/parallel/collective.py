"""Numbers and gradients summed over a process group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
import torch.distributed as dist
from torch import Tensor

_BUCKET = 25 * 2**20
"""Bytes sent at once."""


def sums(values: Sequence[float], group: dist.ProcessGroup | None, device: torch.device) -> list[float]:
    """Numbers summed over the group, in double precision."""
    numbers = torch.tensor(list(values), dtype=torch.float64, device=device)
    dist.all_reduce(numbers, group=group)
    return [float(number) for number in numbers.tolist()]


def extremes(value: float, group: dist.ProcessGroup | None, device: torch.device) -> tuple[float, float]:
    """The smallest and the largest of a number over the group."""
    pair = torch.tensor([-value, value], dtype=torch.float64, device=device)
    dist.all_reduce(pair, op=dist.ReduceOp.MAX, group=group)
    low, high = pair.tolist()
    return -low, high


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
