"""Putting wrappers in place of torch's functions, and putting everything back."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

_ABSENT = object()


class Patches:
    """Replaced attributes, restored in reverse order."""

    def __init__(self) -> None:
        self._undo: list[tuple[Any, str, Any, Any]] = []

    def wrap(self, owner: Any, name: str, make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
        """Replace `owner.name` by `make(original)`, looking to the outside like the original."""
        own = vars(owner).get(name, _ABSENT)
        original = getattr(owner, name)
        wrapper = functools.wraps(original)(transparent(make(original)))
        # torch.compile must run the probes, never trace them.
        wrapper._torchdynamo_disable = True  # type: ignore[attr-defined]
        wrapper.__gradledger__ = original  # type: ignore[attr-defined]
        setattr(owner, name, wrapper)
        self._undo.append((owner, name, own, wrapper))

    def later(self, undo: Callable[[], None]) -> None:
        """Also call this when everything is put back."""
        self._undo.append((undo, "", None, None))

    def restore(self) -> None:
        """Put everything back; what somebody else has replaced since is left to him."""
        while self._undo:
            owner, name, own, wrapper = self._undo.pop()
            if not name:
                owner()
            elif vars(owner).get(name) is wrapper:
                if own is _ABSENT:
                    delattr(owner, name)
                else:
                    setattr(owner, name, own)


TRANSPARENT = "<gradledger importlib._bootstrap>"
"""Python counts no frame of such a file when a warning looks for the line it is about: torch's warnings
through our wrappers still point to the user's line."""


def transparent(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, invisible to the stack level of warnings."""
    function.__code__ = function.__code__.replace(co_filename=TRANSPARENT)  # type: ignore[attr-defined]
    return function


def is_wrapped(function: Any) -> bool:
    """Whether this is one of ours."""
    return hasattr(function, "__gradledger__")
