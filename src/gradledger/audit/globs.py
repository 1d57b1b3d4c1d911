"""Patterns for files, as in .gitignore: `tests`, `*.py`, `examples/**/bad_*.py`."""

from __future__ import annotations

import os
import re
from fnmatch import fnmatchcase
from functools import cache

from gradledger.audit.place import slashed


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
    meaning = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile(
        "".join(meaning.get(piece, re.escape(piece)) for piece in pieces) + "(?:/.*)?", re.DOTALL
    )
