"""Putting wrappers in place of torch's functions, and putting everything back."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from gradledger.ledger.record import dataclass

_ABSENT = object()


@dataclass(slots=True, eq=False)
class _Place:
    """One wrapper under one name, and what it has replaced there."""

    by: Patches
    owner: Any
    name: str
    wrapper: Any
    replaced: Any

    @property
    def key(self) -> tuple[int, str]:
        return id(self.owner), self.name


_PLACES: dict[tuple[int, str], list[_Place]] = {}
"""All that are in use, under each name the oldest first: several audits may run, and end in any order."""


class Patches:
    """Replaced attributes, restored in reverse order."""

    def __init__(self) -> None:
        self._undo: list[_Place | Callable[[], None]] = []

    def wrap(self, owner: Any, name: str, make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Any:
        """Replace `owner.name` by `make(original)`, looking to the outside like the original."""
        original = getattr(owner, name)
        called = original
        if _is_last(original, _PLACES.get((id(owner), name))):
            # Another audit's wrapper, which may go before this one.
            def called(*args: Any, **kwargs: Any) -> Any:
                return wrapper.__gradledger__(*args, **kwargs)

            transparent(called)
        wrapper: Any = functools.wraps(original)(transparent(make(called)))
        # torch.compile must run the probes, never trace them.
        wrapper._torchdynamo_disable = True
        wrapper.__gradledger__ = original
        self.place(owner, name, wrapper)
        return wrapper

    def place(self, owner: Any, name: str, wrapper: Any) -> None:
        """Put a wrapper in place, also under a second name of the same function."""
        place = _Place(self, owner, name, wrapper, vars(owner).get(name, _ABSENT))
        _PLACES.setdefault(place.key, []).append(place)
        self._undo.append(place)
        setattr(owner, name, wrapper)

    def covers(self, owner: Any, name: str) -> bool:
        """Whether a wrapper of this audit is in use there."""
        if not is_wrapped(vars(owner).get(name)):
            return False
        return any(place.by is self for place in _PLACES.get((id(owner), name), ()))

    def later(self, undo: Callable[[], None]) -> None:
        """Also call this when everything is put back."""
        self._undo.append(undo)

    def restore(self) -> None:
        """Put everything back; what somebody else has replaced since is left to him."""
        while self._undo:
            undo = self._undo.pop()
            if isinstance(undo, _Place):
                _take_away(undo)
            else:
                undo()


def _is_last(function: Any, places: list[_Place] | None) -> bool:
    return bool(places) and places[-1].wrapper is function  # type: ignore[index]


def _take_away(place: _Place) -> None:
    """Put back what was replaced, or join the wrapper above to what was below."""
    places = _PLACES[place.key]
    at = places.index(place)
    above = places[at + 1] if at + 1 < len(places) else None
    del places[at]
    if not places:
        del _PLACES[place.key]
    if above is not None:
        if above.replaced is place.wrapper:
            above.replaced = place.replaced
        if above.wrapper.__gradledger__ is place.wrapper:
            above.wrapper.__gradledger__ = above.wrapper.__wrapped__ = place.wrapper.__gradledger__
    elif vars(place.owner).get(place.name) is place.wrapper:
        if place.replaced is _ABSENT:
            delattr(place.owner, place.name)
        else:
            setattr(place.owner, place.name, place.replaced)


TRANSPARENT = "<gradledger importlib._bootstrap>"
"""Python counts no frame of such a file when a warning looks for the line it is about: torch's warnings
through our wrappers still point to the user's line."""


def transparent(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, invisible to the stack level of warnings."""
    function.__code__ = function.__code__.replace(co_filename=TRANSPARENT)
    return function


def is_wrapped(function: Any) -> bool:
    """Whether this is one of ours."""
    return hasattr(function, "__gradledger__")
