"""Patterns for files, as in .gitignore: `tests`, `*.py`, `examples/**/bad_*.py`."""

from __future__ import annotations

import os
import re
from fnmatch import fnmatchcase
from functools import cache

from gradledger.audit.place import slashed
from gradledger.audit.wildcards import ANY, FOLDERS, expression


def matches(pattern: str, path: str, root: str) -> bool:
    """Whether the pattern, written relative to `root`, covers the file or a folder above it."""
    try:
        relative = os.path.relpath(path, root)
    except ValueError:  # another drive
        relative = path
    place = slashed(relative)
    pattern = slashed(pattern).removeprefix("./").rstrip("/")
    if "/" not in pattern:
        return any(fnmatchcase(part, pattern) for part in place.split("/"))
    return _regex(pattern).fullmatch(slashed(path) if pattern.startswith("/") else place) is not None


@cache
def _regex(pattern: str) -> re.Pattern[str]:
    pieces = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    tokens: list[tuple[str, bool]] = []
    for number, piece in enumerate(pieces):
        if number % 2:
            after_slash = not tokens or tokens[-1][0] in ("/", FOLDERS)
            if piece == FOLDERS and not after_slash:
                tokens += [(ANY, True), ("/", False)]
            else:
                tokens.append(("[^/]", False) if piece == "?" else (piece, True))
        else:
            tokens += [(re.escape(letter), False) for letter in piece]
    return re.compile(expression(tokens) + "(?:/.*)?", re.DOTALL)
