"""Edits by line and column -> stretches of a text and what comes in their place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gradledger.rules.finding import Edit

_LINE_END = re.compile(r"\r\n|\r|\n")


class BadEdit(ValueError):
    """Edits that overlap, or that point beside the text."""


class Stretch(NamedTuple):
    """Replace the characters from `start` to `end` by `text`."""

    start: int
    end: int
    text: str


def newline_of(text: str) -> str:
    """The line end that the text uses first."""
    own = _LINE_END.search(text)
    return "\n" if own is None else own.group()


def stretches(text: str, edits: Iterable[Edit]) -> list[Stretch]:
    """The edits as stretches of the text, in order, with the text's own line ends in what is new.

    The empty line behind a text that lacks its last line end is a place, too: one line end behind the text.
    """
    starts = [0, *(end.end() for end in _LINE_END.finditer(text))]
    ends = [end.start() for end in _LINE_END.finditer(text)]
    newline = newline_of(text)
    if starts[-1] < len(text):
        ends.append(len(text))
        starts.append(len(text) + len(newline))
    ends.append(starts[-1])

    def offset(place: tuple[int, int]) -> int:
        line, column = place
        if not 1 <= line <= len(starts) or not 1 <= column <= ends[line - 1] - starts[line - 1] + 1:
            raise BadEdit(f"line {line}, column {column} is not in the text")
        return starts[line - 1] + column - 1

    found = [
        Stretch(offset(edit.start), offset(edit.end), _LINE_END.sub(newline, edit.text)) for edit in edits
    ]
    # A stable sort: what is inserted at one place stays in the order it was given.
    found.sort(key=lambda stretch: (stretch.start, stretch.end))
    behind = 0
    for stretch in found:
        if stretch.start < behind or stretch.end < stretch.start:
            raise BadEdit("two edits overlap")
        behind = stretch.end
    return found


def spliced(text: str, edits: Sequence[Edit]) -> str:
    """The text after the edits; nothing outside them moves."""
    found = stretches(text, edits)
    unended = bool(found) and found[-1].end > len(text)
    end = newline_of(text) if unended else ""
    whole = text + end
    parts: list[str] = []
    done = 0
    for start, stop, new in found:
        parts += [whole[done:start], new]
        done = stop
    result = "".join((*parts, whole[done:]))
    return result.removesuffix(end) if unended else result
