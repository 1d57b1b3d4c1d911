"""A file that could not be checked: where, and why."""

from __future__ import annotations


class Unreadable(Exception):
    """The bytes are no program: at which line of the file (or of which cell), and why."""

    def __init__(self, line: int, reason: str, cell: int | None = None) -> None:
        super().__init__(reason)
        self.line = line
        self.reason = reason
        self.cell = cell


class Problem:
    """One line for the reader: a file that was not checked, and what to do about it."""

    __slots__ = ("cell", "line", "path", "reason")

    def __init__(self, path: str, line: int, reason: str, cell: int | None = None) -> None:
        self.path = path
        self.line = line
        self.reason = " ".join(reason.split())
        self.cell = cell

    def __str__(self) -> str:
        cell = "" if self.cell is None else f"cell {self.cell}:"
        return f"{self.path}:{cell}{self.line}: {self.reason}"
