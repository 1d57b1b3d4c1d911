"""Small numbers for objects, without keeping them alive."""

from __future__ import annotations

import weakref
from typing import Any


class Numbering:
    """Numbers objects; a new object at a dead one's address gets a number of its own."""

    def __init__(self) -> None:
        self._numbers: dict[int, tuple[int, weakref.ref[Any]]] = {}
        self._next = 0

    def known(self, thing: Any) -> int | None:
        """Its number, if it has one."""
        entry = self._numbers.get(id(thing))
        return entry[0] if entry is not None and entry[1]() is thing else None

    def behind(self, number: int) -> weakref.ref[Any] | None:
        """The object of this number, weakly."""
        return next((ref for known, ref in list(self._numbers.values()) if known == number), None)

    def give(self, thing: Any) -> int:
        """A new number for it."""
        self._next += 1
        key, number = id(thing), self._next
        self._numbers[key] = (number, weakref.ref(thing, lambda ref: self._drop(key, ref)))
        return number

    def _drop(self, key: int, ref: weakref.ref[Any]) -> None:
        if key in self._numbers and self._numbers[key][1] is ref:
            del self._numbers[key]
