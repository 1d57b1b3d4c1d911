"""Batches as people nest them: tensors in tuples, lists, mappings, named tuples and dataclasses."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor


def tensors(tree: Any) -> Iterator[Tensor]:
    """All tensors inside, in order."""
    if isinstance(tree, Tensor):
        yield tree
    for child in (_children(tree) or {}).values():
        yield from tensors(child)


def samples(batch: Any) -> int:
    """How many samples a batch holds: the size of its first tensor's first dimension, or of its list."""
    for tensor in tensors(batch):
        if tensor.dim():
            return tensor.shape[0]
    found = _listed(batch)
    if found is None:
        raise ValueError(f"a batch of type {type(batch).__name__} does not tell how many samples it holds")
    return found


def mapped(tree: Any, function: Callable[[Tensor], Tensor]) -> Any:
    """The same nest with every tensor replaced."""
    if isinstance(tree, Tensor):
        return function(tree)
    children = _children(tree)
    if children is None:
        return tree
    return _rebuilt(tree, {key: mapped(child, function) for key, child in children.items()})


def split(batch: Any, size: Any) -> list[Any]:
    """The batch in parts of at most so many samples."""
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise ValueError(f"micro_batch must be a whole number of samples, at least 1, not {size!r}")
    total = samples(batch)
    if not total:
        raise ValueError("the batch is empty")
    return [_cut(batch, start, min(start + size, total), total, "batch") for start in range(0, total, size)]


def _cut(node: Any, start: int, stop: int, total: int, path: str) -> Any:
    if isinstance(node, Tensor):
        if node.dim() and node.shape[0] != total:
            raise ValueError(
                f"{path} holds {node.shape[0]} samples where others hold {total}: pass a list of "
                "micro-batches instead"
            )
        return node[start:stop] if node.dim() else node
    children = _children(node)
    if children is None:
        return node
    if _is_plain(node, children) and len(children) == total:
        return node[start:stop]
    return _rebuilt(
        node, {key: _cut(child, start, stop, total, _at(path, key)) for key, child in children.items()}
    )


def concatenate(batches: Sequence[Any], path: str = "batch", how: str = "") -> Any:
    """One batch of all samples, or a ValueError: which part cannot be put together, and how it could."""
    first = batches[0]
    if len(batches) == 1:
        return first
    if any(type(each) is not type(first) for each in batches):
        kinds = sorted({type(each).__name__ for each in batches})
        raise ValueError(f"{path} is {' in one and '.join(kinds)} in another micro-batch{how}")
    if isinstance(first, Tensor):
        return _joined(batches, path, how)
    children = [_children(each) for each in batches]
    if children[0] is None:
        if not all(_same(each, first) for each in batches):
            raise ValueError(f"{path} differs between the micro-batches{how}")
        return first
    found = [each for each in children if each is not None]
    if all(_is_plain(each, inside) for each, inside in zip(batches, found, strict=True)):
        return type(first)(item for each in batches for item in each)
    if any(each.keys() != found[0].keys() for each in found):
        raise ValueError(f"{path} has other entries in some micro-batches{how}")
    return _rebuilt(
        first, {key: concatenate([each[key] for each in found], _at(path, key), how) for key in found[0]}
    )


def _joined(parts: Sequence[Tensor], path: str, how: str) -> Tensor:
    if not parts[0].dim():
        if not all(torch.equal(part, parts[0]) for part in parts):
            raise ValueError(f"{path} is one number, and differs between the micro-batches{how}")
        return parts[0]
    if len({part.shape[1:] for part in parts}) > 1:
        shapes = " and ".join(map(str, sorted({tuple(part.shape) for part in parts})[:2]))
        raise ValueError(f"{path} has the shapes {shapes}; these cannot be concatenated{how}")
    return torch.cat(list(parts))


def _children(node: Any) -> dict[Any, Any] | None:
    """What is inside by its key; None for a leaf."""
    if isinstance(node, Mapping):
        return {key: node[key] for key in node}
    if isinstance(node, (list, tuple)):
        return dict(enumerate(node))
    if dataclasses.is_dataclass(node) and not isinstance(node, type):
        return {field.name: getattr(node, field.name) for field in dataclasses.fields(node) if field.init}
    return None


def _rebuilt(node: Any, children: dict[Any, Any]) -> Any:
    if dataclasses.is_dataclass(node) and not isinstance(node, type):
        return dataclasses.replace(node, **children)
    if isinstance(node, Mapping):
        try:
            new = copy.copy(node)
            for key, child in children.items():
                new[key] = child  # type: ignore[index]
        except TypeError:
            return children  # a mapping that cannot be written to
        return new
    if hasattr(node, "_fields"):
        return type(node)(*children.values())
    return type(node)(children.values())


def _is_plain(node: Any, children: dict[Any, Any]) -> bool:
    """Whether this is a list of things without tensors, such as texts: one thing per sample."""
    return (
        type(node) in (list, tuple)
        and bool(children)
        and all(isinstance(each, (str, bytes, int, float)) for each in children.values())
    )


def _listed(node: Any) -> int | None:
    children = _children(node)
    if not children:
        return None
    if _is_plain(node, children):
        return len(children)
    return next((found for found in map(_listed, children.values()) if found is not None), None)


def _same(one: Any, other: Any) -> bool:
    try:
        return one is other or bool(one == other)
    except (TypeError, ValueError):
        return False


def _at(path: str, key: Any) -> str:
    return f"{path}[{key!r}]"
