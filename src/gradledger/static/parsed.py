"""Parsed files, kept while they fit: one module is imported by many files, and read along many paths."""

from __future__ import annotations

import ast

from gradledger.static.unit import Unit

MOST_TEXT = 3_000_000
"""How many characters of source are kept in parsed form, which takes about forty times as much memory."""

_kept: dict[str, Unit] = {}
"""By path, what was asked for last at the end."""


def parse(text: str, path: str, *, keep: bool = True) -> Unit:
    """The file as a unit; raises what ast.parse raises. Most files that are checked are imported by none."""
    known = _kept.get(path)
    if known is None or known.text != text:
        known = Unit(path, text, ast.parse(text))
        if not keep:
            return known
    _kept.pop(path, None)
    _kept[path] = known
    _make_room()
    return known


def _make_room() -> None:
    held = sum(len(unit.text) for unit in list(_kept.values()))
    for path, unit in list(_kept.items())[:-1]:
        if held <= MOST_TEXT:
            return
        held -= len(unit.text)
        _kept.pop(path, None)  # another thread may have been first
