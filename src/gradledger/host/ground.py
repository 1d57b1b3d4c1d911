"""Firm ground for our own work, whatever the program has done to the process."""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any


class Ground:
    """Remembers how the process was when the program began."""

    def __init__(self) -> None:
        self._streams: tuple[Any, Any] = (sys.stdout, sys.stderr)
        self._recursion = sys.getrecursionlimit()
        self._directory: str | None = None
        with suppress(OSError):
            self._directory = os.getcwd()

    @contextmanager
    def under(self) -> Iterator[None]:
        """Work in the first directory and on the first standard streams, undisturbed by warnings."""
        streams: tuple[Any, Any] = (sys.stdout, sys.stderr)
        recursion = sys.getrecursionlimit()
        sys.stdout, sys.stderr = (_usable(first, number) for number, first in enumerate(self._streams, 1))
        sys.setrecursionlimit(max(recursion, self._recursion))
        if self._directory is not None:
            with suppress(OSError):
                os.chdir(self._directory)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield
        finally:
            sys.stdout, sys.stderr = streams
            with suppress(RecursionError):  # refused where it would already be exceeded
                sys.setrecursionlimit(recursion)


def _usable(stream: Any, number: int) -> Any:
    """The stream, or an unbuffered one on the same descriptor if the program has closed it."""
    if stream is None or not stream.closed:
        return stream
    try:
        raw = os.fdopen(os.dup(number), "wb", buffering=0)
    except OSError:
        return None  # the descriptor is closed as well
    return io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", write_through=True)
