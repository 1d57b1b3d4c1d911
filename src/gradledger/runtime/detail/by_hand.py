"""Accuracy where the loss is written by hand: found by what flows into it, or not told at all.

The outputs of modules and the tensors of the batch are remembered, weakly. When a backward pass starts, the
operations between the loss and the last output below it must all be known not to move, drop or weigh samples,
and one of them must be that of a classifier (a softmax, a sigmoid). Exactly one tensor of the batch must fit
the output as its answers. Nothing is read but names and shapes of the graph's nodes, so that nothing that was
put aside for the pass is unpacked.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from math import prod
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules import module as calls
from torch.utils.hooks import RemovableHandle

from gradledger.ledger.record import dataclass
from gradledger.runtime import graphs
from gradledger.runtime.detail.answers import IGNORED, right_choices, right_classes
from gradledger.runtime.detail.looking import tensors_in
from gradledger.runtime.detail.telling import Telling, careful
from gradledger.runtime.patch import Patches

MOST_NODES = 64
MOST_OUTPUTS = 16
LARGE = 1 << 20
TRIES = 3
"""So many passes may show that there is something to count; then nobody listens any more."""

_SOFTMAX = ("LogSoftmaxBackward", "SoftmaxBackward", "LogsumexpBackward")
_SIGMOID = ("SigmoidBackward", "LogSigmoidBackward", "SoftplusBackward")
_LOG = ("LogBackward", "Log1PBackward")
_REDUCING = ("MeanBackward", "SumBackward", "DivBackward", "NegBackward", "AddBackward", "SubBackward")
_RESHAPING = ("ViewBackward", "UnsafeViewBackward", "SqueezeBackward", "UnsqueezeBackward", "ToCopyBackward")
_PER_ELEMENT = (
    "ClampBackward",
    "ClampMinBackward",
    "RsubBackward",
    "ExpBackward",
    "PowBackward",
    "AmaxBackward",
)
_CHOOSING = ("MulBackward", "GatherBackward", "IndexBackward")
_KNOWN = (*_SOFTMAX, *_SIGMOID, *_LOG, *_REDUCING, *_RESHAPING, *_PER_ELEMENT, *_CHOOSING)


@dataclass(frozen=True, slots=True)
class Node:
    """An operation between output and loss."""

    name: str
    size: int | None
    by_itself: bool
    """All it worked on came from the output: no mask, no weights."""


class ByHandLook:
    """Listens to modules while a hand-written loss may be understood."""

    def __init__(self, telling: Telling) -> None:
        self.telling = telling
        self._hook: RemovableHandle | None = None
        self._outputs: dict[int, weakref.ref[Tensor]] = {}
        """When each output was born, and the output."""
        self._inputs: set[int] = set()
        """The tensors that went into modules; they are no answers."""
        self._batch: list[Tensor] = []
        """What the loader gave, but nothing large; a program may keep only a copy on another device."""
        self._given: list[weakref.ref[Tensor]] = []
        """What loss modules were given to compare with."""
        self._tries = 0

    def install(self, patches: Patches) -> None:
        """Begin to listen."""
        self._hook = calls.register_module_forward_hook(self._called)
        patches.later(self._stop)

    def _stop(self) -> None:
        if self._hook is not None:
            self._hook.remove()
        self._hook = None
        self._batch = []
        self._forget()

    def _forget(self) -> None:
        self._outputs.clear()
        self._inputs.clear()
        self._given.clear()

    @careful
    def taken(self, batch: Any) -> None:
        """A loader gave this batch."""
        if self._hook is not None:
            self._batch = [tensor for _, tensor in tensors_in(batch) if tensor.numel() <= LARGE]
            self._inputs.clear()

    def _called(self, module: nn.Module, args: Any, output: Any) -> None:
        if not torch.compiler.is_compiling() and torch.is_grad_enabled():
            self._seen(args, output)

    @careful
    def _seen(self, args: Any, output: Any) -> None:
        scalar = isinstance(output, Tensor) and output.dim() == 0
        for _, tensor in tensors_in(args):
            if not scalar:
                self._inputs.add(id(tensor))
            elif tensor.grad_fn is None:  # what a loss module was given to compare with
                self._given.append(weakref.ref(tensor))
        for _, tensor in tensors_in(_values_of(output)):
            if tensor.dim() and tensor.grad_fn is not None and tensor.is_floating_point():
                self._outputs[graphs.born(tensor.grad_fn)] = weakref.ref(tensor)
        while len(self._outputs) > MOST_OUTPUTS:
            del self._outputs[next(iter(self._outputs))]

    def answered(self, tensors: Any) -> tuple[int, int] | None:
        """Right answers and all answers of the batch behind this loss, if that is certain."""
        if self._hook is None:
            return None
        found = self._found(graphs.roots(tensors))
        self._forget()
        if found is None:
            self._tries += 1
            if self._tries >= TRIES:
                self._stop()
        else:
            self._tries = -(1 << 30)  # this program has answers
        return found

    def not_needed(self) -> None:
        """A loss function of torch was understood: nobody need listen."""
        self._forget()
        self._tries += 1
        if self._tries >= TRIES:
            self._stop()

    def _found(self, starts: list[Any]) -> tuple[int, int] | None:
        between = _between(starts, self._outputs.keys())
        if between is None:
            return None
        birth, nodes = between
        output = self._outputs[birth]()
        if output is None:
            return None
        names = [node.name for node in nodes]
        alive = [tensor for ref in self._given if (tensor := ref()) is not None]
        # A loss module says what it compares with; else it is what the batch holds and no module was given.
        given = {id(tensor): tensor for tensor in alive or self._batch}
        others = [tensor.detach() for key, tensor in given.items() if key not in self._inputs]
        with torch.no_grad():
            if _any(names, _SOFTMAX):
                return _classes(output.detach(), nodes, others)
            if _any(names, _SIGMOID) or _any(names, _LOG):
                bound = 0.0 if _any(names, _SIGMOID) else 0.5
                return _choices(output.detach(), nodes, others, bound)
        return None


def _between(starts: list[Any], births: Iterable[int]) -> tuple[int, list[Node]] | None:
    """The one output that everything leads to, and the operations above it; None if one is unknown."""
    ends = set(births)
    stack, seen, nodes, found = list(starts), set(), [], set()
    while stack:
        node = stack.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        name = node.name()
        if not name.endswith("AccumulateGrad") and graphs.born(node) in ends:
            found.add(graphs.born(node))
            continue
        if len(seen) > MOST_NODES or not name.startswith(_KNOWN):
            return None
        below = [following for following, _ in node.next_functions]
        nodes.append(Node(name, _size(node), None not in below))
        stack += below
    return (found.pop(), nodes) if len(found) == 1 else None


def _size(node: Any) -> int | None:
    """How many numbers this operation gave."""
    try:
        return prod(node._input_metadata[0].shape)
    except (AttributeError, IndexError, TypeError):
        return None


def _any(names: Iterable[str], family: tuple[str, ...]) -> bool:
    return any(name.startswith(family) for name in names)


def _classes(output: Tensor, nodes: list[Node], others: list[Tensor]) -> tuple[int, int] | None:
    ways = {}
    shape = tuple(output.shape)
    for dim in (1, -1):
        rest = shape[:1] + shape[2:] if dim == 1 else shape[:-1]
        for target in others:
            if len(shape) > 1 and tuple(target.shape) == rest and _are_classes(target, shape[dim]):
                ways[id(target), dim % len(shape)] = target
    if len(ways) != 1:
        return None
    ((_, dim), target) = next(iter(ways.items()))
    answers = target.numel()
    if not all(_keeps_all(node, output.numel(), answers) for node in nodes):
        return None
    return right_classes(output, target.to(output.device), dim)


def _choices(output: Tensor, nodes: list[Node], others: list[Tensor], bound: float) -> tuple[int, int] | None:
    if bound and not bool(((output >= 0) & (output <= 1)).all()):
        return None
    fitting = [t for t in others if t.numel() == output.numel() and _squeezed(t) == _squeezed(output)]
    if len(fitting) != 1:
        return None
    if not all(_keeps_all(node, output.numel(), 0) for node in nodes):
        return None
    return right_choices(output.reshape(-1), fitting[0].to(output.device).reshape(-1), bound)


def _keeps_all(node: Node, outputs: int, answers: int) -> bool:
    """Whether this operation can neither leave samples out nor let them weigh differently."""
    if node.name.startswith(("IndexBackward", "GatherBackward")):
        return node.size == answers
    if node.name.startswith(("MulBackward", "DivBackward")):
        return node.by_itself or node.size in (1, outputs)
    return True


def _are_classes(target: Tensor, count: int) -> bool:
    if target.is_floating_point() or target.is_complex() or target.dtype == torch.bool or not target.numel():
        return False
    return bool((((target >= 0) & (target < count)) | (target == IGNORED)).all())


def _squeezed(tensor: Tensor) -> tuple[int, ...]:
    return tuple(length for length in tensor.shape if length != 1)


def _values_of(output: Any) -> Any:
    """What a model returned; an object with fields, as libraries have them, is a dictionary of them."""
    return output if isinstance(output, (Tensor, list, tuple, dict)) else getattr(output, "__dict__", ())
