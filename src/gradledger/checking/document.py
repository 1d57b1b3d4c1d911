"""A file as a program: its text, where each line stands, and how edits are written back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from gradledger.checking.decoding import decode
from gradledger.checking.problem import Unreadable
from gradledger.checking.splicing import spliced
from gradledger.rules.finding import Edit

LONGEST = 5_000_000
"""Characters of source beyond which a file was written by a machine and says nothing about training."""


class Document(Protocol):
    """What a plain file and a notebook have in common."""

    program: str
    """The program's text, with plain line ends."""

    def place(self, line: int) -> tuple[int | None, int]:
        """The cell (None in a plain file) and its line for a line of the program."""

    def parts(self) -> Sequence[tuple[int | None, str]]:
        """The text of each cell, or of the whole file under None, as the reader sees it."""

    def rewritten(self, edits: Sequence[Edit]) -> bytes:
        """The file's bytes after edits of the program; raises ValueError where they cannot be written."""


class PlainFile:
    """A source file."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._decoded = decode(raw)
        text = self._decoded.text
        self.program = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text

    def place(self, line: int) -> tuple[int | None, int]:
        """A file has no cells."""
        return None, line

    def parts(self) -> Sequence[tuple[int | None, str]]:
        """The file is one part, with its own line ends."""
        return ((None, self._decoded.text),)

    def rewritten(self, edits: Sequence[Edit]) -> bytes:
        """All bytes as they were, but for the edits."""
        if self._decoded.encoded(self._decoded.text) != self._raw:
            raise ValueError(f"its encoding {self._decoded.encoding} cannot be written back exactly")
        return self._decoded.encoded(spliced(self._decoded.text, edits))


def open_document(path: str, raw: bytes) -> Document:
    """Read a file's bytes by the ending of its name; raises Unreadable."""
    document: Document
    if path.endswith(".ipynb"):
        from gradledger.checking.notebook import Notebook

        document = Notebook(raw)
    else:
        document = PlainFile(raw)
    if len(document.program) > LONGEST:
        raise too_long(len(document.program))
    return document


def too_long(size: int) -> Unreadable:
    """What is said of a file that nobody can have written."""
    return Unreadable(
        1,
        f"has {size / 1e6:.0f} MB of source, only {LONGEST // 1_000_000} MB are read; exclude it",
    )
