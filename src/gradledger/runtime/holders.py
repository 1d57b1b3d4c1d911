"""Where in a program's variables the graphs of finished passes are kept."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any, NamedTuple

import torch

from gradledger.ledger.site import Site
from gradledger.runtime import source

_DEPTH = 2
_WIDTH = 64


class Holder(NamedTuple):
    """A variable, or a field of an object that a variable holds."""

    name: str
    value: Any
    owner: type | None = None
    field: str = ""

    def tensors(self) -> list[torch.Tensor]:
        """The tensors in it, the latest ones of long lists."""
        value = self.value
        if isinstance(value, torch.Tensor):
            return [value]
        if isinstance(value, dict):
            found = [v for v in list(value.values())[:512] if isinstance(v, torch.Tensor)]
            for inner in list(value.values())[:32]:
                if isinstance(inner, (list, deque)):
                    found += [v for v in list(inner)[-256:] if isinstance(v, torch.Tensor)]
            return found
        if isinstance(value, (list, tuple, deque)):
            found = [v for v in list(value)[-512:] if isinstance(v, torch.Tensor)]
            tuples = (item for item in list(value)[-64:] if isinstance(item, tuple))
            return found + [v for item in tuples for v in item if isinstance(v, torch.Tensor)]
        return []

    def filled_at(self, frame: FrameType, near: Site, is_users: Callable[[CodeType], bool]) -> Site | None:
        """The statement that adds to it: by this name in sight of the frame, or in its object's class."""
        path = frame.f_code.co_filename
        found = source.accumulating_statement(path, frame.f_lineno or near.line, self.name)
        if found is None:
            found = source.accumulating_statement(near.path, near.line, self.name)
        for cls in self.owner.__mro__ if self.owner is not None and found is None else ():
            codes = [f.__code__ for f in vars(cls).values() if isinstance(f, FunctionType)]
            mine = next((code for code in codes if is_users(code)), None)
            if mine is not None and found is None:
                found = source.accumulating_statement(
                    mine.co_filename, mine.co_firstlineno, f"self.{self.field}", within=cls.__name__
                )
        return found


def holders(frame: FrameType) -> Iterator[Holder]:
    """The variables of a frame, each with the fields of the objects in it."""
    for name, value in list(frame.f_locals.items()):
        if not name.startswith("__"):
            yield Holder(name, value)
            yield from _fields(name, value, _DEPTH)


def _fields(name: str, value: Any, depth: int) -> Iterator[Holder]:
    if isinstance(value, dict):
        for key, inner in list(islice(value.items(), _WIDTH)):
            if not isinstance(inner, dict):
                yield from _fields(f"{name}[{key!r}]", inner, depth)
        return
    fields = getattr(value, "__dict__", None)
    if not isinstance(fields, dict) or isinstance(value, (type, ModuleType, FunctionType, torch.Tensor)):
        return
    for field, inner in list(islice(fields.items(), _WIDTH)):
        yield Holder(f"{name}.{field}", inner, type(value), field)
        if depth > 1:
            yield from _fields(f"{name}.{field}", inner, depth - 1)
