"""All ways to learn, found by looking into the folder `modes`: a new way is one new file."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

import gradledger.lessons.modes
from gradledger.ledger.modules import modules_in
from gradledger.ledger.record import dataclass

if TYPE_CHECKING:
    from gradledger.lessons.reading.reader import Reader


@dataclass(frozen=True, slots=True)
class Way:
    """One way: the word for it, what follows the word, what it is, its place in menus, and the doing."""

    name: str
    takes: str
    """LESSON, or what else may follow; empty if nothing does."""
    about: str
    order: int
    run: Callable[[Reader, Sequence[str]], int]


@cache
def ways() -> dict[str, Way]:
    """Every way by its word, in the order of the menus."""
    found = []
    for name in modules_in(gradledger.lessons.modes.__path__):
        module = importlib.import_module(f"gradledger.lessons.modes.{name}")
        found.append(Way(name, module.TAKES, module.ABOUT, module.ORDER, module.run))
    return {way.name: way for way in sorted(found, key=lambda way: way.order)}
