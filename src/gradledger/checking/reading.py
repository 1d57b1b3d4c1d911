"""A file's bytes, read once, if there is anything in them for us."""

from __future__ import annotations

import os
import re
import stat

from gradledger.checking.decoding import decode
from gradledger.checking.document import LONGEST, too_long
from gradledger.checking.problem import Problem, Unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mmap import mmap

_WORD, _CLEAR, _STEP = b"backward", b"zero_grad", b".step("
_OPTIM, _PARAMETERS = b"optim", b".parameters("
_CALLED = re.compile(rb"backward(?:\s*\(|\b(?<=\.backward))")
"""`backward(` and `.backward`: the word alone mostly speaks of compatibility.

It begins with letters that must be there, so that `re` can leap from one place to the next.
"""
_ALONE = re.compile(rb"backward\b(?<=\bbackward)")
_IMPORT = re.compile(rb"import\b(?<=\bimport)")

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


def trains(raw: bytes | mmap) -> bool:
    """Whether a backward pass is called or handed on, or may be in what is imported or was forgotten."""
    if raw.find(_WORD) >= 0 and (_CALLED.search(raw) is not None or _imported(raw)):
        return True
    if raw.find(_CLEAR) >= 0 and raw.find(_STEP) >= 0:
        return True
    return raw.find(_OPTIM) >= 0 and raw.find(_PARAMETERS) >= 0


def _imported(raw: bytes | mmap) -> bool:
    """Whether a line imports something of this name."""
    for found in _ALONE.finditer(raw):
        start = raw.rfind(b"\n", 0, found.start()) + 1
        if _IMPORT.search(raw, start, found.start()) is not None:
            return True
    return False


def _all(handle: int, size: int) -> bytes:
    raw = os.read(handle, size + 1)
    if len(raw) <= size and (len(raw) == size or not raw):
        return raw
    parts = [raw]  # it grows while it is read, or comes in pieces
    while part := os.read(handle, 1 << 20):
        parts.append(part)
    return b"".join(parts)


def _large(path: str, handle: int, size: int, *, named: bool) -> Problem | None:
    from mmap import ACCESS_READ, mmap

    with mmap(handle, 0, access=ACCESS_READ) as whole:
        if not named and not trains(whole):
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
