"""Which files are read because somebody's data names them.

A recording names the files of the program it was made of, and may come from somebody else: then only what
lies in folders that the user has named is read. Pipes and devices are never read.
"""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

LARGEST = 50_000_000
"""No source is larger; a notebook with its outputs hardly ever."""

_folders: tuple[str, ...] | None = None
"""Where files may lie; None for everywhere."""


class Confined:
    """A context in which files outside of these folders are not read."""

    def __init__(self, *folders: str) -> None:
        self._inside = tuple(os.path.realpath(folder) for folder in folders)
        self._before: tuple[str, ...] | None = None

    def __enter__(self) -> None:
        global _folders
        self._before, _folders = _folders, self._inside

    def __exit__(self, *_: object) -> None:
        global _folders
        _folders = self._before


def within(path: str) -> bool:
    """Whether this path may be read: links count as what they lead to."""
    if _folders is None:
        return True
    try:
        real = os.path.realpath(path)
        return any(os.path.commonpath([folder, real]) == folder for folder in _folders)
    except (OSError, ValueError):  # a null byte, another drive
        return False


def content(path: str, largest: int = LARGEST) -> bytes | None:
    """The bytes of a plain file that may be read; None where there is none or it is too large."""
    if not within(path):
        return None
    try:
        # Without waiting: a pipe that nobody writes to would never open.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0))
        try:
            facts = os.fstat(handle)
            if not stat.S_ISREG(facts.st_mode) or facts.st_size > largest:
                return None
            return b"".join(_parts(handle, largest))
        finally:
            os.close(handle)
    except (OSError, ValueError):
        return None


def _parts(handle: int, most: int) -> Iterator[bytes]:
    while most > 0 and (part := os.read(handle, min(most, 1 << 20))):
        most -= len(part)
        yield part
