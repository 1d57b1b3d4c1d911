"""A bar that moves while something runs."""

from __future__ import annotations

import threading
from typing import TextIO

from gradledger.report.plain import harmless


class Waiting:
    """Shows on a terminal that work goes on, and takes the line away at the end."""

    def __init__(self, what: str, stream: TextIO, *, delay: float = 0.1) -> None:
        self._what = harmless(what)
        self._stream = stream
        self._delay = delay
        """For so many seconds nothing is shown."""
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._move, daemon=True)

    def __enter__(self) -> None:
        """Begin to move."""
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        """Take the bar away."""
        self._done.set()
        self._thread.join()

    def _move(self) -> None:
        if self._done.wait(self._delay):
            return
        width, at = 24, 0
        while not self._done.wait(0.1):
            at = (at + 1) % (2 * width)
            left = at if at < width else 2 * width - at
            bar = "-" * left + "=" * 4 + "-" * (width - left)
            self._write(f"\r{self._what}  [{bar}]")
        self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
