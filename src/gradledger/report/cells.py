"""Measuring, cutting and wrapping text by the cells of a terminal, where some characters take two."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence


def cells(text: str) -> int:
    """How many columns the text takes."""
    if text.isascii():
        return len(text)
    return sum(_cells(character) for character in text)


def cut(text: str, width: int, ellipsis: str) -> str:
    """The text, shortened to the width with an ellipsis if it is longer."""
    if cells(text) <= width:
        return text
    head, _ = _split(text, max(0, width - cells(ellipsis)))
    return head.rstrip() + ellipsis


def wrap(text: str, first: int, rest: int | None = None) -> list[str]:
    """Break prose into lines: the first at most `first` cells wide, the others `rest`; at least one line."""
    rest = first if rest is None else rest
    lines: list[str] = []
    line = ""
    for word in text.split():
        room = rest if lines else first
        if not line:
            line = word
        elif cells(line) + 1 + cells(word) <= room:
            line += " " + word
        else:
            lines.append(line)
            line = word
        while line and cells(line) > (room := rest if lines else first):
            head, line = _split(line, max(2, room))
            lines.append(head)
    return [*lines, line] if line or not lines else lines


def _split(text: str, width: int) -> tuple[str, str]:
    """The longest head that fits, and the tail."""
    taken = 0
    for number, character in enumerate(text):
        taken += _cells(character)
        if taken > width:
            return text[:number], text[number:]
    return text, ""


def _cells(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def whole_words(words: Sequence[str], room: int) -> str:
    """As many whole words as fit: a number that is cut would be another number."""
    told = ""
    for word in words:
        longer = f"{told} {word}" if told else word
        if cells(longer) > room:
            break
        told = longer
    return told
