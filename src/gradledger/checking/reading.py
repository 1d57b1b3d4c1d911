"""A file's bytes, read once, if there is anything in them for us."""

from __future__ import annotations

import os
import re
import stat

from gradledger.checking.decoding import decode
from gradledger.checking.document import LONGEST, too_long
from gradledger.checking.problem import Problem, Unreadable

_WORD, _CLEAR, _STEP = b"backward", b"zero_grad", b".step("
_OPTIM, _PARAMETERS = b"optim", b".parameters("
_TRAINS = re.compile(rb"backward\s*\(|\.backward\b|\bimport\b[^\n]*\bbackward\b")
"""The word alone mostly speaks of compatibility."""

LARGEST_NOTEBOOK = 200_000_000
"""Outputs make notebooks large; their source is measured later."""


def read(path: str, *, named: bool) -> bytes | Problem | None:
    """The bytes of a file, the reason why there are none, or None where there is nothing to check.

    A file that the user named himself is checked in any case.
    """
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0))
        try:
            facts = os.fstat(handle)
            if stat.S_ISDIR(facts.st_mode) or not stat.S_ISREG(facts.st_mode):
                return Problem(path, 1, "is no file")
            limit = LARGEST_NOTEBOOK if path.endswith(".ipynb") else LONGEST
            if facts.st_size > limit:
                return _large(path, handle, facts.st_size, named=named)
            raw = _all(handle, facts.st_size)
        finally:
            os.close(handle)
    except (OSError, ValueError) as error:
        return Problem(path, 1, f"cannot be read: {getattr(error, 'strerror', None) or error}")
    if named or trains(raw):
        return raw
    return _damage(path, raw)


def trains(raw: bytes) -> bool:
    """Whether a backward pass is called or handed on, or may be in what is imported or was forgotten."""
    if _WORD in raw and _TRAINS.search(raw) is not None:
        return True
    return (_CLEAR in raw and _STEP in raw) or (_OPTIM in raw and _PARAMETERS in raw)


def _all(handle: int, size: int) -> bytes:
    raw = os.read(handle, size + 1)
    if len(raw) <= size and (len(raw) == size or not raw):
        return raw
    parts = [raw]  # it grows while it is read, or comes in pieces
    while part := os.read(handle, 1 << 20):
        parts.append(part)
    return b"".join(parts)


def _large(path: str, handle: int, size: int, *, named: bool) -> Problem | None:
    import mmap

    with mmap.mmap(handle, 0, access=mmap.ACCESS_READ) as whole:
        if not named and (whole.find(_WORD) < 0 or _TRAINS.search(whole) is None):
            return None
    return Problem(path, 1, too_long(size).reason)


def _damage(path: str, raw: bytes) -> Problem | None:
    """What shows at a glance that a file is broken, although it would not have been read any further."""
    if path.endswith(".ipynb"):
        body = raw.strip()
        if body and not (body.endswith(b"}") and body.removeprefix(b"\xef\xbb\xbf").startswith(b"{")):
            return Problem(path, 1, "is not valid JSON; repair or exclude it")
        return None
    if raw.isascii() and b"\0" not in raw:
        return None
    try:
        decode(raw)
    except Unreadable as error:
        return Problem(path, error.line, error.reason)
    return None
