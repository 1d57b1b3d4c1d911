"""What something unseen can get at, once it was given a value."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from gradledger.static.unit import acts
from gradledger.static.values import (
    Bound,
    Builtin,
    ClassValue,
    Context,
    External,
    Function,
    Instance,
    Model,
    Optimizer,
    Unknown,
    Value,
)

_DEEPEST = 4
_BARE = frozenset({"object", "ABC", "Generic", "Protocol", "Module", "NamedTuple", "Dataset", "Enum"})
"""Base classes without methods that could clear."""
_LEAVES_BE = (
    r"(?i)torch|jit|compile|no_grad|inference|autocast|method|property|abstract|overr|wraps|cache|test|mock|patch"
    r"|hydra|click|record|remote|typ(?:e|ing)|check|profil|tim(?:e|ing)|retry|rank|process|deprec|custom_|regist"
    r"|context|log|skip|slow|require|given|setting|command|main|cuda|gpu|nvtx|numba|fixture|ex\."
    r"|data|attr|final|singleton"
)
"""Decorators that certainly clear nothing, by their names."""
_ENTERS_BE = (
    r"(?i)autocast|amp|sync|profil|join|ema|average|scale|lock|tim(?:e|ing|er)|eval|torch|seed|record|device|cuda"
    r"|precision|dtype|bar|log|track|run|swap|pad|debug|anomaly|null|suppress|stack|nvtx|freeze|graph|hook|mode|stream"
)
"""Contexts that certainly clear nothing, by their names."""


def within(value: Value, depth: int = 0) -> Iterator[Value]:
    """A value and everything that can be got at through it."""
    yield value
    if depth >= _DEEPEST:
        return
    match value:
        case list() | tuple():
            parts = list(value)
        case dict():
            parts = list(value.values())
        case Instance() if not value.cls.is_module:
            parts = list(value.attrs.values())
        case Bound():
            parts = [value.owner]
        case _:
            return
    for part in parts[:50]:
        yield from within(part, depth + 1)


def optimizers_within(value: Value) -> list[Optimizer]:
    """The optimizers that can be got at through a value."""
    return [part for part in within(value) if isinstance(part, Optimizer)]


def acting(value: Value) -> bool:
    """Whether a value is a function that itself differentiates, clears or steps."""
    if isinstance(value, Bound):
        value = value.target
    if not isinstance(value, Function):
        return False
    body = value.node.body
    text = value.unit.segment(body) if isinstance(body, list) else value.unit.written(body)
    return acts(text) or value.unit.calls_one_that_matters(text)


def is_job(function: Value) -> bool:
    """Whether a function has a whole loop of passes in it: it is judged by itself."""
    if isinstance(function, Bound):
        function = function.target
    if not isinstance(function, Function) or not isinstance(function.node.body, list):
        return False
    return turns(function.node) and "backward" in function.unit.segment(function.node.body)


def is_stranger(decorator: Value, text: str) -> bool:
    """Whether a decorator is not in sight and may do more than its name says."""
    return isinstance(decorator, (External, Unknown)) and not re.search(_LEAVES_BE, text)


def may_clear_around(context: Value, text: str, given: list[Value]) -> bool:
    """Whether a context that is not in sight was given something that it may clear."""
    if isinstance(context, (Context, Instance, Function, Builtin)) or re.search(_ENTERS_BE, text):
        return False
    return any(
        isinstance(part, (Model, Optimizer)) or (isinstance(part, Instance) and part.cls.is_module)
        for value in given
        for part in within(value)
    )


def is_out_of_sight(base: Value) -> bool:
    """Whether a base class may have methods that nobody can see."""
    name = base.name if isinstance(base, External) else base.label if isinstance(base, Unknown) else ""
    return bool(name) and name.rpartition(".")[2] not in _BARE


def inherits_out_of_sight(cls: ClassValue) -> bool:
    """Whether a class has methods that nobody can see."""
    return any(is_out_of_sight(base) for one in cls.lineage() for base in one.bases)


def turns(code: ast.AST) -> bool:
    """Whether there is a loop in a function."""
    return any(isinstance(node, (ast.For, ast.AsyncFor, ast.While)) for node in ast.walk(code))
