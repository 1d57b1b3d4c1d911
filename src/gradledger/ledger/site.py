"""Where an event happened."""

from __future__ import annotations

from gradledger.ledger.record import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Site:
    """A place in the user's source: lines and columns count from 1, `end_column` is exclusive."""

    path: str
    line: int
    column: int = 1
    end_line: int = 0
    end_column: int = 0
    function: str = "<module>"
    cell: int | None = None
    """The notebook cell, or None in a plain file."""
    via: str | None = None
    """The library call that the user's line led into, when the user did not make the call himself."""

    def __str__(self) -> str:
        cell = "" if self.cell is None else f"cell {self.cell}:"
        return f"{self.path}:{cell}{self.line}"
