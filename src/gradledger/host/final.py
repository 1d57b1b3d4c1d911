"""The last moments, in which an impatient signal may shorten the wait but not swallow the report."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any


class LastMoments:
    """While inside, SIGINT and SIGTERM are noted the first time; the second one ends the process."""

    def __init__(self) -> None:
        self.pressed: int | None = None
        self._earlier: dict[int, Any] = {}

    def __enter__(self) -> LastMoments:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                handler = signal.getsignal(number)
                if handler is not signal.SIG_IGN and handler is not None:  # None: not installed from Python
                    self._earlier[number] = handler
                    signal.signal(number, self._noted)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._earlier.items():
            signal.signal(number, handler)

    def _noted(self, number: int, frame: FrameType | None) -> None:
        self.pressed = number
        signal.signal(number, signal.SIG_DFL)
