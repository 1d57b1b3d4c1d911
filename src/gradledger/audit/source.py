"""The text of the audited program, read when it is first needed."""

from __future__ import annotations

import io
import linecache
import tokenize
from functools import lru_cache
from pathlib import Path


@lru_cache(maxsize=256)
def source_lines(path: str) -> tuple[str, ...]:
    """The lines of a file as an editor counts them, or nothing if the text cannot be had."""
    if path.endswith(".ipynb"):
        return ()  # its lines are the notebook's JSON, not the program
    if path in linecache.cache:  # also cells and other programs that exist only in memory
        return tuple(line.rstrip("\r\n") for line in linecache.getlines(path))
    try:
        raw = Path(path).read_bytes()
    except (OSError, ValueError):
        return ()
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
    except SyntaxError:
        encoding = "utf-8"
    text = raw.decode(encoding, errors="replace").removeprefix("\ufeff")
    # splitlines() would also split at form feeds, which count as no line in Python
    return tuple(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))


def source_line(path: str, line: int) -> str:
    """One line, from 1; empty if there is none."""
    lines = source_lines(path)
    return lines[line - 1] if 1 <= line <= len(lines) else ""


@lru_cache(maxsize=64)
def comments(path: str) -> dict[int, str]:
    """The comments of a file by line; what only looks like one inside a string is none."""
    lines = source_lines(path)
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


def forget() -> None:
    """Read everything anew, because files may have changed."""
    source_lines.cache_clear()
    comments.cache_clear()
