"""A program as the editor has it: one text, or the cells of a notebook."""

from __future__ import annotations

import json
from collections.abc import Sequence

from gradledger.checking.document import Document
from gradledger.checking.notebook import Notebook
from gradledger.checking.splicing import spliced
from gradledger.ledger.record import dataclass, replace
from gradledger.rules.finding import Edit


@dataclass(frozen=True, slots=True)
class Part:
    """One text of the editor's."""

    uri: str
    version: int | None
    text: str
    cell: int | None = None
    """The number among all cells of its notebook, from 1, or None in a plain file."""
    python: bool = True


@dataclass(frozen=True, slots=True)
class Source:
    """One program."""

    uri: str
    path: str
    parts: tuple[Part, ...]
    notebook: bool = False

    def document(self) -> Document:
        """The program as the checker reads it; raises Unreadable."""
        if not self.notebook:
            return _Plain(self.parts[0].text)
        cells = [_cell(part) for part in self.parts]
        # The checker knows notebooks by their JSON; this one has what matters to it.
        return Notebook(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}).encode())

    def part(self, cell: int | None) -> Part:
        """The text with this number."""
        return self.parts[0 if cell is None else cell - 1]

    def after(self, edits: Sequence[Edit]) -> Source:
        """The program after edits that name the cells; raises ValueError where they do not fit."""
        parts = [
            replace(part, text=spliced(part.text, [edit for edit in edits if edit.cell == part.cell]))
            for part in self.parts
        ]
        return replace(self, parts=tuple(parts))


def _cell(part: Part) -> dict[str, object]:
    return {"cell_type": "code" if part.python else "markdown", "metadata": {}, "source": part.text}


class _Plain:
    """A text that is no notebook; how the file is encoded is the editor's business."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.program = plain(text)

    def place(self, line: int) -> tuple[int | None, int]:
        """There are no cells."""
        return None, line

    def parts(self) -> Sequence[tuple[int | None, str]]:
        """The text is one part."""
        return ((None, self._text),)

    def rewritten(self, edits: Sequence[Edit]) -> bytes:
        """The edited text in UTF-8."""
        return spliced(self._text, edits).encode()


def plain(text: str) -> str:
    """The text with plain line ends."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
