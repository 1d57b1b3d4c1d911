"""Reading the autograd graph below a loss: its leaves, its root's place in time, how the loss was reduced."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import torch
from torch import Tensor

from gradledger.ledger.record import dataclass

MOST_NODES = 100_000

_MEAN_LIKE = ("MseLoss", "NllLoss", "BinaryCrossEntropy", "SmoothL1Loss", "HuberLoss", "KlDiv",
              "SoftMarginLoss", "MultiMarginLoss", "MultilabelMarginLoss", "PoissonNllLoss", "L1Loss",
              "CtcLoss")  # fmt: skip
_PASSES_ON = ("ToCopyBackward", "ViewBackward", "SqueezeBackward", "UnsqueezeBackward", "SelectBackward",
              "ReshapeAliasBackward", "CloneBackward", "AliasBackward")  # fmt: skip


def roots(tensors: Any) -> list[Any]:
    """The graph nodes backward() starts from."""
    if isinstance(tensors, Tensor):
        tensors = (tensors,)
    try:
        return [t.grad_fn for t in tensors if t.grad_fn is not None]
    except (AttributeError, TypeError):
        return []


def born(node: Any) -> int:
    """When the node was made: a node is younger than all nodes of the graph below it."""
    return int(node._sequence_nr())


def now() -> int:
    """When the next node of this thread will be made."""
    return int(torch.autograd._get_sequence_nr())  # type: ignore[attr-defined]


def leaves(starts: list[Any]) -> list[Tensor]:
    """The leaf tensors that a backward from these nodes can fill."""
    found: dict[int, Tensor] = {}
    for node in _walk(starts):
        variable = getattr(node, "variable", None)
        if isinstance(variable, Tensor):
            found[id(variable)] = variable
    return list(found.values())


def contains(starts: list[Any], birth: int) -> bool:
    """Whether the node born then is part of the graph; nodes older than it need no look."""
    return any(born(node) == birth for node in _walk(starts, not_before=birth))


def _walk(starts: list[Any], not_before: int | None = None) -> Iterator[Any]:
    stack = list(starts)
    seen: set[Any] = set()
    while stack and len(seen) < MOST_NODES:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        yield node
        for below, _ in node.next_functions:
            if below is None or below in seen:
                continue
            # AccumulateGrad nodes are of no age; they end the graph.
            if not_before is None or (
                not below.name().endswith("AccumulateGrad") and born(below) >= not_before
            ):
                stack.append(below)


def averaged_twice(node: Any) -> bool:
    """Whether the loss is the mean of N stacked terms that were each divided by N before."""
    for _ in range(6):
        if node is None:
            return False
        if node.name().startswith("MeanBackward"):
            stack = _only(node)
            terms = [below for below, _ in stack.next_functions] if stack is not None else []
            if (
                stack is None
                or not stack.name().startswith(("StackBackward", "CatBackward"))
                or len(terms) < 2
            ):
                return False
            return all(_divides(term, len(terms)) for term in terms)
        node = _only(node)
    return False


def _divides(node: Any, by: int) -> bool:
    if node is not None and node.name().startswith(("UnsqueezeBackward", "ViewBackward")):
        node = _only(node)
    if node is None:
        return False
    constant = _constant(node, "_saved_other") or _constant(node, "_saved_self")
    if constant is None:
        return False
    wanted = by if node.name().startswith("DivBackward") else 1 / by
    return node.name().startswith(("DivBackward", "MulBackward")) and abs(constant - wanted) < 1e-6


@dataclass(frozen=True, slots=True)
class LossFacts:
    """How a loss came about: reduced how, over how many, times which constant."""

    reduction: Literal["mean", "masked", "sum", "unknown"]
    factor: float | None
    count: float | None


UNKNOWN = LossFacts("unknown", None, None)


def loss_facts(node: Any, *, scaled: bool) -> LossFacts:
    """Read the nodes between the root and the reduction; to be called before backward frees them."""
    try:
        return _facts(node, 1.0, 0, skip=1 if scaled else 0)
    except (RuntimeError, AttributeError, TypeError, ValueError):
        return UNKNOWN


def _facts(node: Any, factor: float, depth: int, skip: int) -> LossFacts:
    if node is None or depth > 12:
        return UNKNOWN
    name = node.name()
    if name.startswith(("MulBackward", "DivBackward")):
        return _scaled_facts(node, name, factor, depth, skip)
    if name.startswith("NegBackward"):
        return _facts(_only(node), factor, depth + 1, skip)
    if name.startswith(("AddBackward", "SubBackward")):
        return _sum_facts(node, factor, depth, skip)
    if name.startswith(_PASSES_ON):
        return _facts(_only(node), factor, depth + 1, skip)
    if name.startswith("MeanBackward"):
        return LossFacts("mean", factor, _mean_count(node))
    if name.startswith("SumBackward"):
        return LossFacts("sum", factor, None)
    if name.startswith(_MEAN_LIKE):
        return _criterion_facts(node, factor)
    return UNKNOWN


def _scaled_facts(node: Any, name: str, factor: float, depth: int, skip: int) -> LossFacts:
    ways = [below for below, _ in node.next_functions if below is not None]
    if len(ways) != 1:
        if name.startswith("DivBackward") and len(ways) == 2:
            return LossFacts("masked", factor, None) if ways[0].name().startswith("SumBackward") else UNKNOWN
        return UNKNOWN
    if skip:
        return _facts(ways[0], factor, depth + 1, skip - 1)
    divides = name.startswith("DivBackward")
    other = _constant(node, "_saved_other")
    if other is None:
        other = None if divides else _constant(node, "_saved_self")
    below = ways[0]
    if divides and below.name().startswith("SumBackward"):
        return _divided_sum(below, factor, other)
    if other is None or other == 0:
        return UNKNOWN
    return _facts(below, factor / other if divides else factor * other, depth + 1, skip)


def _divided_sum(node: Any, factor: float, by: float | None) -> LossFacts:
    """A sum divided by its own size is a mean; by another number perhaps a masked mean or a share."""
    sizes = [int(size) for size in getattr(node, "_saved_self_sym_sizes", ())]
    products = {1}
    for size in sizes:
        products |= {size * product for product in products}
    if by is not None and by in products and by != 1:
        return LossFacts("mean", factor, by)
    return LossFacts("masked", factor, by)


def _sum_facts(node: Any, factor: float, depth: int, skip: int) -> LossFacts:
    """A sum of terms speaks for itself only if all terms agree."""
    if skip:
        return UNKNOWN
    facts = [_facts(below, factor, depth + 1, 0) for below, _ in node.next_functions if below is not None]
    known = [fact for fact in facts if fact.reduction != "unknown"]
    if not known or len(known) != len(facts):
        return UNKNOWN
    first = known[0]
    if any(fact.reduction != first.reduction for fact in known):
        return UNKNOWN
    # Weights between the terms are a choice; the largest term shows whether the sum was divided.
    factors = [fact.factor for fact in known if fact.factor is not None]
    counts = {fact.count for fact in known}
    return LossFacts(
        first.reduction,
        max(factors, key=abs) if factors else None,
        counts.pop() if len(counts) == 1 else None,
    )


def _only(node: Any) -> Any:
    ways = [below for below, _ in node.next_functions if below is not None]
    return ways[0] if len(ways) == 1 else None


def _constant(node: Any, name: str) -> float | None:
    value = getattr(node, name, None)
    if isinstance(value, (int, float)):
        return float(value)
    if isinstance(value, Tensor) and value.numel() == 1 and value.device.type == "cpu":
        return float(value.detach())
    return None


def _mean_count(node: Any) -> float | None:
    count = getattr(node, "_saved_self_numel", None)
    if count is None:
        sizes = getattr(node, "_saved_self_sym_sizes", None)
        count = 1
        for size in sizes or ():
            count *= int(size)
        count = count if sizes is not None else None
    return None if count is None else float(count)


def _criterion_facts(node: Any, factor: float) -> LossFacts:
    reduction = getattr(node, "_saved_reduction", None)
    if reduction == 2:
        return LossFacts("sum", factor, None)
    if reduction != 1:
        return UNKNOWN
    count: float | None = None
    if node.name().startswith("NllLoss"):
        weighted = getattr(node, "_saved_weight", None) is not None
        total = None if weighted else getattr(node, "_saved_total_weight", None)
        if isinstance(total, Tensor) and total.device.type == "cpu":
            count = float(total)
    else:
        saved = getattr(node, "_saved_self", None)
        count = float(saved.numel()) if isinstance(saved, Tensor) else None
    return LossFacts("mean", factor, count)
