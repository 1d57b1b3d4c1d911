"""A recording that grows under the eyes of a test."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from gradledger.ledger import events as ev
from tests.report.recorded import saved


class Growing:
    """Writes the lines of a recording piece by piece."""

    def __init__(self, path: Path, events: Iterable[ev.Event]) -> None:
        self.path = path
        whole = saved(path.with_suffix(".whole"), events)
        self.lines = whole.read_bytes().splitlines(keepends=True)
        whole.unlink()

    def grow(self, lines: int | None = None) -> None:
        """Append so many lines, or all that are left."""
        piece, self.lines = self.lines[:lines], ([] if lines is None else self.lines[lines:])
        self.append(b"".join(piece))

    def append(self, data: bytes) -> None:
        with self.path.open("ab") as file:
            file.write(data)
