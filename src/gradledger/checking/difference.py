"""Two versions of a file as a unified diff; of a notebook, cell by cell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import unified_diff

from gradledger.checking.document import open_document

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
"""Only these ends are lines to `patch`."""


def difference(path: str, shown: str, before: bytes, after: bytes) -> str:
    """The diff under the name that is shown."""
    old, new = open_document(path, before).parts(), open_document(path, after).parts()
    return "".join(
        line
        for (cell, was), (_, is_now) in zip(old, new, strict=True)
        if was != is_now
        for line in _lines(shown if cell is None else f"{shown}:cell {cell}", was, is_now)
    )


def _lines(name: str, was: str, is_now: str) -> Iterator[str]:
    for line in unified_diff(_LINE.findall(was), _LINE.findall(is_now), name, name):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
