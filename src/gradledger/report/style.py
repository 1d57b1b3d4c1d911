"""What a stream can show, and how things look on it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TextIO

from gradledger.ledger.record import dataclass
from gradledger.report.plain import ascii_only, harmless, without_commands

NARROWEST, WIDEST, USUAL = 60, 120, 80

_COLOURS = {
    "error": "1;31",
    "warning": "1;33",
    "performance": "1;36",
    "possible": "1;35",
    "code": "1",
    "label": "31",
    "related": "34",
    "quiet": "2",
    "fix": "32",
    "good": "32",
    "emphasis": "3",
}


@dataclass(frozen=True, slots=True)
class StreamFacts:
    """All that a renderer needs to know about where its text will be read."""

    width: int = USUAL
    colour: bool = False
    unicode: bool = True
    cwd: str = "."

    @property
    def bar(self) -> str:
        """What stands between a line's number and its text."""
        return "│" if self.unicode else "|"

    @property
    def pointer(self) -> str:
        """What leads from a line to the remark about it."""
        return "◄" if self.unicode else "<--"

    @property
    def gap(self) -> str:
        """What stands for lines that are left out."""
        return "⋮" if self.unicode else ":"

    @property
    def ellipsis(self) -> str:
        """What stands for the rest of a line."""
        return "…" if self.unicode else "..."

    def plain(self, text: str) -> str:
        """The text as this stream can safely show it."""
        safe = harmless(text)
        return safe if self.unicode else ascii_only(safe)

    def prose(self, text: str) -> str:
        """The same for text that will be wrapped: its line breaks and tabs are only spaces."""
        return self.plain(without_commands(" ".join(text.split())))

    def paint(self, text: str, role: str) -> str:
        """The text in the colour of its role, if the stream has colours."""
        return f"\x1b[{_COLOURS[role]}m{text}\x1b[0m" if self.colour and text else text


def facts_of(stream: TextIO, environ: Mapping[str, str], cwd: str) -> StreamFacts:
    """Look at a stream and the environment."""
    return StreamFacts(
        width=_width(stream, environ),
        colour=_colour(stream, environ),
        unicode=_unicode(stream, environ),
        cwd=cwd,
    )


def file_facts(environ: Mapping[str, str], cwd: str) -> StreamFacts:
    """What holds for a file that we write: UTF-8, no colours."""
    ascii_wanted = environ.get("GRADLEDGER_ASCII", "0") not in ("", "0")
    return StreamFacts(width=_columns(environ) or USUAL, unicode=not ascii_wanted, cwd=cwd)


def working_directory() -> str:
    """The working directory, also when it was deleted meanwhile."""
    try:
        return os.getcwd()
    except OSError:
        return os.environ.get("PWD", os.sep)


def _columns(environ: Mapping[str, str]) -> int | None:
    text = environ.get("COLUMNS", "")
    wide = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
    return min(max(wide, NARROWEST), WIDEST) if wide else None


def _width(stream: TextIO, environ: Mapping[str, str]) -> int:
    columns = _columns(environ)
    if columns is not None:
        return columns
    try:
        wide = os.get_terminal_size(stream.fileno()).columns if stream.isatty() else 0
    except (OSError, ValueError, AttributeError):
        wide = 0
    return min(max(wide, NARROWEST), WIDEST) if wide else USUAL


def _colour(stream: TextIO, environ: Mapping[str, str]) -> bool:
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    try:
        return stream.isatty() and environ.get("TERM") != "dumb"
    except (ValueError, AttributeError):  # closed, or only half a stream
        return False


def _unicode(stream: TextIO, environ: Mapping[str, str]) -> bool:
    if environ.get("GRADLEDGER_ASCII", "0") not in ("", "0"):
        return False
    encoding = getattr(stream, "encoding", None)
    try:
        "│◄⋮…".encode(encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
