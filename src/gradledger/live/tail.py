"""The lines of a file that another process writes, as they come."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from io import FileIO

from gradledger.ledger.recording import RecordingError

LONGEST = 1 << 24
"""No line of a recording is longer."""
_CHUNK = 1 << 20
_REMEMBERED = 64


def identity(path: str) -> tuple[int, int, int] | None:
    """By which a file is recognised as long as nobody writes to it; None if it is not there."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


class BegunAnewError(Exception):
    """The file is another one now, or was emptied: read from its beginning."""


class Tail:
    """Yields whole lines for ever, from a file that may not be there yet; it only reads.

    `wait` is called whenever there is nothing new; what it raises ends the reading.
    """

    def __init__(self, path: str, wait: Callable[[], None], known: tuple[int, ...] | None = None) -> None:
        self._path = path
        self._wait = wait
        self._known = known
        """A file that counts as not there."""
        self._file: FileIO | None = None
        self._behind = b""
        """The last bytes that were read, by which another content is recognised."""
        self._lines: deque[bytes] = deque()
        self._half = b""
        self.there = False
        """Whether the file was ever there."""

    def __iter__(self) -> Iterator[str]:
        """Itself."""
        return self

    def __next__(self) -> str:
        """The next line."""
        while not self._lines:
            if not self._read():
                self._wait()
        try:
            return self._lines.popleft().decode()
        except UnicodeDecodeError as error:
            raise RecordingError(f"{self._path}: not a recording of gradledger (not text)") from error

    def readline(self, limit: int = -1) -> str:
        """The next line, as a file gives it."""
        return next(self)[: limit if limit >= 0 else None]

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()
        self._file = None

    def _read(self) -> bool:
        file = self._opened()
        if file is None:
            return False
        self.compare()
        chunk = file.read(_CHUNK)
        if not chunk:
            return False
        self._behind = (self._behind + chunk)[-_REMEMBERED:]
        *whole, self._half = (self._half + chunk).split(b"\n")
        self._lines.extend(line + b"\n" for line in whole)
        if len(self._half) > LONGEST:
            raise RecordingError(f"{self._path}: not a recording of gradledger")
        return True

    def _opened(self) -> FileIO | None:
        """The file, if it is there; one that was removed is read to its end."""
        try:
            if self._file is None:
                if self._known is not None and identity(self._path) == self._known:
                    return None
                self._file = open(self._path, "rb", buffering=0)  # noqa: SIM115
                self.there = True
        except FileNotFoundError:
            return None
        return self._file

    def compare(self) -> None:
        """Raise `BegunAnewError` if the file was emptied, replaced or written over."""
        file = self._opened()
        if file is None:
            return
        at = file.tell()
        here = os.fstat(file.fileno())
        try:
            there = os.stat(self._path)
        except FileNotFoundError:
            there = here
        same = (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)
        if same and here.st_size >= at:
            file.seek(at - len(self._behind))
            same = file.read(len(self._behind)) == self._behind
            file.seek(at)
        if not same or here.st_size < at:
            self.close()
            raise BegunAnewError
