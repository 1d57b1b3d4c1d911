"""A batch cut along its first dimension, whatever it is made of."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor


def size_of(batch: Any) -> int:
    """How many samples a batch holds: the first dimension of its tensors, which must agree."""
    sizes: set[int] = set()
    _mapped(batch, lambda tensor: sizes.add(tensor.shape[0]) if tensor.dim() else None)
    if not sizes:
        raise ValueError("the batch holds no tensor with a first dimension to split")
    if len(sizes) > 1:
        raise ValueError(
            f"the batch's tensors differ in their first dimension ({', '.join(map(str, sorted(sizes)))}): "
            "samples must come first in each"
        )
    return sizes.pop()


def split(batch: Any, size: int) -> list[Any]:
    """The batch in pieces of `size` samples, the last perhaps smaller; what is no tensor goes with each."""
    total = size_of(batch)
    return [_piece(batch, slice(at, at + size)) for at in range(0, total, size)]


def _piece(batch: Any, samples: slice) -> Any:
    return _mapped(batch, lambda tensor: tensor[samples] if tensor.dim() else tensor)


def _mapped(batch: Any, change: Callable[[Tensor], Any]) -> Any:
    """The same structure with every tensor changed."""
    if isinstance(batch, Tensor):
        return change(batch)
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*(_mapped(part, change) for part in batch))
    if isinstance(batch, (list, tuple)):
        return type(batch)(_mapped(part, change) for part in batch)
    if isinstance(batch, Mapping):
        parts = {name: _mapped(part, change) for name, part in batch.items()}
        # A tokenizer's answer is a mapping with a class of its own, which is made from a dict.
        return parts if type(batch) is dict else type(batch)(parts)  # type: ignore[call-arg]
    if dataclasses.is_dataclass(batch) and not isinstance(batch, type):
        names = [field.name for field in dataclasses.fields(batch)]
        return dataclasses.replace(batch, **{n: _mapped(getattr(batch, n), change) for n in names})
    return batch
