"""Tensors as a recording keeps them: shape, type and a few first values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from gradledger.ledger.details import TensorSeen

FEW = 6
MOST_TENSORS = 8


def seen(tensor: Tensor, name: str = "") -> TensorSeen:
    """A look at one tensor."""
    return TensorSeen(name, tuple(tensor.shape), str(tensor.dtype).removeprefix("torch."), _values(tensor))


def seen_in(thing: Any, name: str = "") -> tuple[TensorSeen, ...]:
    """A look at the first tensors inside a tensor, a list or a dictionary of them."""
    found: list[TensorSeen] = []
    for inner, tensor in tensors_in(thing, name):
        if len(found) == MOST_TENSORS:
            break
        found.append(seen(tensor, inner))
    return tuple(found)


def tensors_in(thing: Any, name: str = "") -> Iterator[tuple[str, Tensor]]:
    """The tensors inside, each with the way to it."""
    if isinstance(thing, Tensor):
        yield name, thing
    elif isinstance(thing, (list, tuple)):
        for index, item in enumerate(thing):
            yield from tensors_in(item, f"{name}[{index}]")
    elif isinstance(thing, Mapping):
        for key, item in thing.items():
            yield from tensors_in(item, f"{name}.{key}" if name else str(key))


def _values(tensor: Tensor) -> tuple[float, ...]:
    try:
        with torch.no_grad():
            part = getattr(tensor, "_local_tensor", tensor).detach()
            if part.is_sparse or part.is_complex() or part.is_meta:
                return ()
            # Only the beginning is copied, however large the tensor.
            while part.dim() > 1 and part.shape[0] > 0 and part[0].numel() >= FEW:
                part = part[0]
            return tuple(float(value) for value in part.reshape(-1)[:FEW].tolist())
    except (RuntimeError, TypeError, NotImplementedError):
        return ()  # a kind of tensor that does not show its numbers


def one_number(thing: Any) -> float | None:
    """The number that this is, if it is one."""
    if isinstance(thing, Tensor):
        return float(thing.detach()) if thing.numel() == 1 and not thing.is_complex() else None
    if hasattr(thing, "item") and getattr(thing, "size", 0) == 1:
        thing = thing.item()
    return float(thing) if isinstance(thing, (int, float)) else None


def gradient_norm(grads: Sequence[Tensor | None]) -> float:
    """The norm of all of them together, with one wait for the device that holds them."""
    with torch.no_grad():
        there = [_plain(grad) for grad in grads if grad is not None]
        norms = [torch.linalg.vector_norm(grad, dtype=_wide(grad)) for grad in there]
        if len({norm.device for norm in norms}) == 1:
            return math.sqrt(
                sum(value * value for value in torch.stack([norm.double() for norm in norms]).tolist())
            )
        return math.sqrt(sum(float(norm) ** 2 for norm in norms))


def _plain(grad: Tensor) -> Tensor:
    grad = getattr(grad, "_local_tensor", grad).detach()
    return grad.coalesce().values() if grad.is_sparse else grad


def _wide(grad: Tensor) -> torch.dtype | None:
    """Squares of half precision would overflow."""
    return torch.float32 if grad.dtype in (torch.float16, torch.bfloat16) else None
