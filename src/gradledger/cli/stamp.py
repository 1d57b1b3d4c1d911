"""Telling a recording that was just written from one that lay there before."""

from __future__ import annotations

import os

Stamp = tuple[int, int, int]


def stamp(path: str) -> Stamp | None:
    """What changes when the file is written anew; None if there is nothing in it."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return (found.st_ino, found.st_mtime_ns, found.st_size) if found.st_size else None
