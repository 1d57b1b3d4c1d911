"""A sign of life from what takes longer than two seconds, on a terminal only, and gone without a trace.

Nothing is loaded or drawn before: a lock is waited for in a thread, and what ends in time lets go of it.
"""

from __future__ import annotations

import _thread
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

PATIENCE = 2.0
_T = TypeVar("_T")


class Progress:
    """How far the work is; whoever does it moves `done`."""

    __slots__ = ("done", "total", "unit", "what")

    def __init__(self, what: str, unit: str, total: int | None) -> None:
        self.what = what
        self.unit = unit
        self.total = total
        self.done = 0

    def step(self) -> None:
        """One more."""
        self.done += 1

    def counted(self, items: Iterable[_T]) -> Iterator[_T]:
        """The same items, counted as they are taken."""
        for item in items:
            self.done += 1
            yield item


@contextmanager
def progress(what: str, unit: str = "", total: int | None = None) -> Iterator[Progress]:
    """Show that `what` goes on while the context lasts."""
    shown = Progress(what, unit, total)
    if not _wanted():
        yield shown
        return
    working, drawn = _thread.allocate_lock(), _thread.allocate_lock()
    working.acquire()
    drawn.acquire()
    _thread.start_new_thread(_wait, (shown, working, drawn))
    owner = os.getpid()
    try:
        yield shown
    finally:
        working.release()
        if os.getpid() == owner:  # in a forked child there is no such thread
            drawn.acquire()


def _wanted() -> bool:
    """Whether somebody sits before a terminal that can be written over, and did not decline."""
    if os.environ.get("GRADLEDGER_NO_PROGRESS") or os.environ.get("TERM") == "dumb":
        return False
    try:
        return sys.__stderr__ is not None and sys.__stderr__.isatty()
    except ValueError:  # closed
        return False


def _wait(shown: Progress, working: _thread.LockType, drawn: _thread.LockType) -> None:
    try:
        if not working.acquire(timeout=PATIENCE):
            from gradledger.cli.progress_line import draw

            draw(shown, lambda seconds: working.acquire(timeout=seconds))
    except Exception:  # a sign of life that fails must not hurt what lives
        pass
    finally:
        drawn.release()
