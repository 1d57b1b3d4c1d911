"""Edits -> the edited text."""

from __future__ import annotations

from collections.abc import Iterable

from gradledger.repair.text_lines import split_lines
from gradledger.rules.finding import Edit


class OverlappingEdits(ValueError):
    """Two edits want the same place, so their order would matter."""


def applied(text: str, edits: Iterable[Edit]) -> str:
    """The text after all edits, whatever their order; nothing outside them moves."""
    starts = _line_starts(text)
    spans = sorted((_offset(starts, text, e.start), _offset(starts, text, e.end), e.text) for e in edits)
    parts: list[str] = []
    done, inserted = 0, -1
    for start, end, new in spans:
        if start < done or end < start or start == end == inserted:
            raise OverlappingEdits(f"two edits meet at offset {start}")
        parts += [text[done:start], new]
        done = end
        # Only another pure insertion at this very point would be ambiguous.
        inserted = start if start == end else -1
    return "".join((*parts, text[done:]))


def _line_starts(text: str) -> list[int]:
    starts = [0]
    for line in split_lines(text):
        starts.append(starts[-1] + len(line))
    return starts


def _offset(starts: list[int], text: str, place: tuple[int, int]) -> int:
    line, column = place
    if not 1 <= line <= len(starts) or column < 1:
        raise ValueError(f"no such place in the text: {place}")
    # The last line may be the empty one after the text's last line ending.
    end = starts[line] if line < len(starts) else len(text)
    offset = starts[line - 1] + column - 1
    if offset > end:
        raise ValueError(f"no such place in the text: {place}")
    return offset
