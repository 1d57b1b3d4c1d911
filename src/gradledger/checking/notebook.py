"""A notebook as one program, and edits of that program as changes of a few strings in its JSON."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from gradledger.audit.notebook_cells import CodeCell, NotebookError, Piece, notebook_cells
from gradledger.checking.decoding import decode
from gradledger.checking.magics import plain_python
from gradledger.checking.problem import Unreadable
from gradledger.checking.splicing import Stretch, newline_of, stretches
from gradledger.ledger.record import replace
from gradledger.rules.finding import Edit

_UNIT = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u....|\\.|.", re.DOTALL)
"""One character of a JSON string as it is written."""

Unit = tuple[str, str]
"""A character and how it is written."""


class Notebook:
    """Code cells in their order, with an empty line behind each.

    The empty line makes every place belong to one cell: what is inserted behind a cell's last line is not
    what is inserted before the next cell's first.
    """

    def __init__(self, raw: bytes) -> None:
        self._decoded = decode(raw)
        text = self._decoded.text
        try:
            self._cells = notebook_cells(text).code if text.strip() else ()
        except NotebookError as error:
            raise Unreadable(error.line, f"{error.reason}; repair or exclude it") from error
        self._firsts: list[int] = []
        """The line of the program on which each cell begins."""
        programs: list[str] = []
        line = 1
        for cell in self._cells:
            program = plain_python(_plain(cell.text))
            self._firsts.append(line)
            programs.append(program + ("\n" if program.endswith("\n") or not program else "\n\n"))
            line += programs[-1].count("\n")
        self.program = "".join(programs)
        if "\0" in self.program:
            cell_number, inside = self.place(self.program.count("\n", 0, self.program.index("\0")) + 1)
            raise Unreadable(inside, "contains a null byte, so it is no Python source", cell_number)

    def place(self, line: int) -> tuple[int | None, int]:
        """The cell's number and the line in it."""
        index = max(0, bisect_right(self._firsts, line) - 1)
        if not self._cells:
            return None, line
        return self._cells[index].number, line - self._firsts[index] + 1

    def parts(self) -> Sequence[tuple[int | None, str]]:
        """Each code cell's text, magics and all."""
        return [(cell.number, cell.text) for cell in self._cells]

    def rewritten(self, edits: Sequence[Edit]) -> bytes:
        """All bytes as they were, but for the strings of the lines that change."""
        changes: list[tuple[int, int, str]] = []
        by_cell: dict[int, list[Edit]] = {}
        for edit in edits:
            index = bisect_right(self._firsts, edit.start[0]) - 1
            if index < 0 or bisect_right(self._firsts, edit.end[0]) - 1 != index:
                raise ValueError("an edit reaches from one cell into another")
            shift = self._firsts[index] - 1
            start, end = (edit.start[0] - shift, edit.start[1]), (edit.end[0] - shift, edit.end[1])
            by_cell.setdefault(index, []).append(replace(edit, start=start, end=end))
        text = self._decoded.text
        for index, inside in by_cell.items():
            changes += _changes(text, self._cells[index], stretches(self._cells[index].text, inside))
        for begin, stop, new in sorted(changes, reverse=True):
            text = text[:begin] + new + text[stop:]
        return self._decoded.encoded(text)


def _changes(text: str, cell: CodeCell, wanted: list[Stretch]) -> Iterator[tuple[int, int, str]]:
    """What to write where in the JSON text, one change for each run of strings that are touched."""
    if not cell.pieces:
        raise ValueError("an empty cell cannot be edited")
    starts = [0]
    for piece in cell.pieces:
        starts.append(starts[-1] + len(piece.text))
    last = len(cell.pieces) - 1
    runs: list[tuple[int, int, list[Stretch]]] = []
    for stretch in wanted:
        first = min(max(bisect_right(starts, stretch.start) - 1, 0), last)
        until = max(first, min(bisect_right(starts, max(stretch.end - 1, stretch.start)) - 1, last))
        if runs and runs[-1][1] >= first:
            runs[-1] = (runs[-1][0], max(until, runs[-1][1]), [*runs[-1][2], stretch])
        else:
            runs.append((first, until, [stretch]))
    for first, until, inside in runs:
        yield _run(text, cell, (first, until), starts, inside)


def _run(
    text: str, cell: CodeCell, run: tuple[int, int], starts: list[int], wanted: list[Stretch]
) -> tuple[int, int, str]:
    first, until = run
    pieces = cell.pieces
    units = [unit for piece in pieces[first : until + 1] for unit in _units(text, piece)]
    unended = until == len(pieces) - 1 and wanted[-1].end > starts[-1]
    newline = newline_of(cell.text)
    if unended:  # behind the last line, which has no end: lend it one
        units += _written(newline, ascii_only=True)
    done, result = 0, list[Unit]()
    for start, end, new in wanted:
        result += units[done : start - starts[first]]
        result += _written(new, ascii_only=text.isascii())
        done = end - starts[first]
    result += units[done:]
    if unended:
        ending = _written(newline, ascii_only=True)
        result = result[: -len(ending)] if result[-len(ending) :] == ending else result
    begin, stop = pieces[first].start, pieces[until].end
    strings = list(_strings(result)) if cell.listed else [_quoted(result)]
    if strings:
        return begin, stop, _separator(text, pieces, first).join(strings)
    if until + 1 < len(pieces):
        return begin, pieces[until + 1].start, ""
    return (pieces[first - 1].end if first else begin), stop, ""


def _strings(units: list[Unit]) -> Iterator[str]:
    """One JSON string for each line, as Jupyter saves them."""
    line: list[Unit] = []
    for unit in units:
        line.append(unit)
        if unit[0] == "\n":
            yield _quoted(line)
            line = []
    if line:
        yield _quoted(line)


def _quoted(units: list[Unit]) -> str:
    return f'"{"".join(written for _, written in units)}"'


def _units(text: str, piece: Piece) -> list[Unit]:
    written = _UNIT.findall(text, piece.start + 1, piece.end - 1)
    return list(zip(piece.text, written, strict=True))


def _written(text: str, *, ascii_only: bool) -> list[Unit]:
    return [(one, json.dumps(one, ensure_ascii=ascii_only)[1:-1]) for one in text]


def _separator(text: str, pieces: tuple[Piece, ...], index: int) -> str:
    """What stands between two strings of this list."""
    if len(pieces) > 1:
        index = min(index, len(pieces) - 2)
        return text[pieces[index].end : pieces[index + 1].start]
    before = text[: pieces[index].start]
    return "," + before[len(before.rstrip(" \t\r\n")) :]


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
