"""The text of the audited program, read when it is first needed."""

from __future__ import annotations

import sys
from functools import lru_cache

from gradledger.audit.reach import content

_held: dict[tuple[str, int | None], tuple[str, ...]] = {}
"""Texts that stand in no file, or not yet: standard input, a repair before it is written."""


@lru_cache(maxsize=256)
def source_lines(path: str, cell: int | None = None) -> tuple[str, ...]:
    """The lines of a file or of a notebook's cell, or nothing if the text cannot be had."""
    held = _held.get((path, cell))
    if held is not None:
        return held
    if path.endswith(".ipynb"):  # its own lines are the notebook's JSON, not the program
        return () if cell is None else _cells(path).get(cell, ())
    if cell is not None:
        return ()
    linecache = sys.modules.get("linecache")  # loads much, and holds nothing before others use it
    if linecache is not None and path in linecache.cache:  # also cells that exist only in memory
        return tuple(line.rstrip("\r\n") for line in linecache.getlines(path))
    raw = content(path)
    return () if raw is None else _split(_decoded(raw))


def source_line(path: str, line: int, cell: int | None = None) -> str:
    """One line, from 1; empty if there is none."""
    lines = source_lines(path, cell)
    return lines[line - 1] if 1 <= line <= len(lines) else ""


@lru_cache(maxsize=64)
def comments(path: str, cell: int | None = None) -> dict[int, str]:
    """The comments of a file or a cell by line; what only looks like one inside a string is none."""
    import tokenize

    lines = source_lines(path, cell)
    found: dict[int, str] = {}
    reader = iter([line + "\n" for line in lines])
    try:
        for token in tokenize.generate_tokens(lambda: next(reader, "")):
            if token.type == tokenize.COMMENT:
                found[token.start[0]] = token.string
    except (tokenize.TokenError, SyntaxError):
        # text that Python cannot read, a cell with magics: take every line at its word
        for number, line in enumerate(lines, 1):
            _, mark, rest = line.partition("#")
            if mark:
                found.setdefault(number, mark + rest)
    return found


def line_in_file(path: str, line: int, cell: int | None = None) -> int:
    """The line of the file itself: for a notebook, where the cell's line stands in its JSON."""
    return line if cell is None else _json_lines(path).get((cell, line), 1)


def hold(path: str, cell: int | None, text: str) -> None:
    """Take this text for the file's or the cell's, whatever stands on the disk."""
    forget()
    _held[path, cell] = _split(text)


def release(path: str) -> None:
    """Take the disk's word again."""
    forget()
    for key in [key for key in _held if key[0] == path]:
        del _held[key]


def forget() -> None:
    """Read everything anew, because files may have changed."""
    for remembered in (source_lines, comments, _cells, _json_lines):
        remembered.cache_clear()


def _decoded(raw: bytes) -> str:
    if b"coding" not in b"".join(raw.split(b"\n", 2)[:2]):  # only these lines may declare another
        return raw.decode("utf-8", errors="replace").removeprefix("\ufeff")
    import io
    import tokenize

    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
    except SyntaxError:
        encoding = "utf-8"
    try:
        return raw.decode(encoding, errors="replace").removeprefix("\ufeff")
    except (LookupError, ValueError):  # rot13 and the like are no encodings of text
        return raw.decode("utf-8", errors="replace").removeprefix("\ufeff")


def _split(text: str) -> tuple[str, ...]:
    # splitlines() would also split at form feeds, which count as no line in Python
    return tuple(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))


@lru_cache(maxsize=8)
def _cells(path: str) -> dict[int, tuple[str, ...]]:
    from gradledger.audit.notebook_cells import NotebookError, notebook_cells

    raw = content(path)
    if raw is None:
        return {}
    try:
        cells = notebook_cells(raw.decode("utf-8-sig"))
    except (ValueError, NotebookError):
        return {}
    return {cell.number: _split(cell.text) for cell in cells.code}


@lru_cache(maxsize=8)
def _json_lines(path: str) -> dict[tuple[int, int], int]:
    """For each line of each cell the line of the JSON text that it begins on."""
    from gradledger.audit.notebook_cells import NotebookError, notebook_cells

    raw = content(path)
    if raw is None:
        return {}
    try:
        text = raw.decode("utf-8-sig")
        cells = notebook_cells(text)
    except (ValueError, NotebookError):
        return {}
    found: dict[tuple[int, int], int] = {}
    row, seen = 1, 0
    for cell in cells.code:
        line = 1
        for piece in cell.pieces:
            row, seen = row + text.count("\n", seen, piece.start), piece.start
            found.setdefault((cell.number, line), row)
            for _ in range(len(_split(piece.text)) - 1):
                line += 1
                # the next piece, if there is one, corrects the line that begins with it
                found[cell.number, line] = row
            if piece.text.endswith(("\n", "\r")):
                found.pop((cell.number, line), None)
    return found
