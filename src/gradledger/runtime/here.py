"""What is going on in one thread: those that train side by side have each a flight of their own."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Sequence

from gradledger.runtime.cohort import Cohort
from gradledger.runtime.cruise import Cruise


class Here(threading.local):
    """The state of the thread that asks; made when a thread asks first, gone with it."""

    def __init__(self, flights: Flights) -> None:
        self.thread = threading.get_ident()
        self.in_backward = False
        self.in_pass: Callable[[Sequence[Cohort]], None] | None = None
        """Set while a backward runs: books what it has done so far (steps inside backward hooks)."""
        self._life = Life()
        self.cruise = flights.begin(self._life)


class Life:
    """Lives as long as its thread: what is local to a thread is dropped when the thread ends."""


class Flights:
    """The flights of all threads; a thread may end in the middle of one."""

    def __init__(self, make: Callable[[], Cruise], lock: threading.RLock) -> None:
        self._make = make
        self._lock = lock
        self._of: list[tuple[weakref.ref[Life], Cruise]] = []

    def begin(self, life: Life) -> Cruise:
        """A new thread's; those of threads that have ended are booked."""
        with self._lock:
            ended = [cruise for known, cruise in self._of if known() is None]
            self._of = [(known, cruise) for known, cruise in self._of if cruise not in ended]
            for cruise in ended:
                cruise.leave()
            self._of.append((weakref.ref(life), self._make()))
            return self._of[-1][1]

    def land(self) -> None:
        """Book all that has been flown so far."""
        for _, cruise in list(self._of):
            cruise.leave()


def new_lock() -> threading.RLock:
    """One thread books at a time; in a forked child, where the one that did may be missing, none does."""
    lock = threading.RLock()
    _locks.add(lock)
    return lock


_locks: weakref.WeakSet[threading.RLock] = weakref.WeakSet()


def _forked() -> None:
    for lock in list(_locks):
        lock._at_fork_reinit()  # type: ignore[attr-defined]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
