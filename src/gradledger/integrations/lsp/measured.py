"""A text's places, in characters here and in the client's units there."""

from __future__ import annotations

import re

from lsprotocol import types

from gradledger.ledger.site import Site

_LINE_END = re.compile(r"\r\n|\r|\n")
"""What ends a line for editors and for Python; form feeds and Unicode separators do not."""


class Measured:
    """A text with the beginnings and ends of its lines."""

    def __init__(self, text: str, encoding: str) -> None:
        ends = list(_LINE_END.finditer(text))
        self.text = text
        self._encoding = encoding
        self._starts = [0, *(end.end() for end in ends)]
        self._ends = [*(end.start() for end in ends), len(text)]

    def line(self, number: int) -> str:
        """One line, from 1, without its end; empty if there is none."""
        if not 1 <= number <= len(self._starts):
            return ""
        return self.text[self._starts[number - 1] : self._ends[number - 1]]

    def position(self, line: int, column: int) -> types.Position:
        """The client's position for a line and a column from 1; what lies behind the text is its end."""
        if line > len(self._starts):
            line = len(self._starts)
            column = len(self.line(line)) + 1
        return types.Position(line - 1, self._units(self.line(line)[: max(0, column - 1)]))

    def range_of(self, site: Site) -> types.Range:
        """The client's range for a site; without an end it is the rest of the line."""
        start = self.position(site.line, site.column)
        behind = len(self.line(site.line).rstrip()) + 1
        end = self.position(site.end_line or site.line, site.end_column if site.end_line else behind)
        return types.Range(start, max(start, end))

    def offset(self, position: types.Position) -> int:
        """The number of characters before the client's position; a column behind its line is its end."""
        if position.line >= len(self._starts):
            return len(self.text)
        line = self.line(position.line + 1)
        return self._starts[position.line] + self._characters(line, position.character)

    def _units(self, text: str) -> int:
        if self._encoding == "utf-32" or text.isascii():
            return len(text)
        if self._encoding == "utf-8":
            return len(text.encode("utf-8", "surrogatepass"))
        return len(text.encode("utf-16-le", "surrogatepass")) // 2

    def _characters(self, line: str, units: int) -> int:
        if self._encoding == "utf-32" or line.isascii():
            return min(units, len(line))
        for count, character in enumerate(line):
            if units <= 0:
                return count
            units -= self._units(character)
        return len(line)
