"""Reads a recording while it grows and tells what it shows, as often as somebody wants to see it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from gradledger.audit.answer import Answer
from gradledger.ledger.recording import RecordingError, read_lines
from gradledger.live.feed import Feed, News, State
from gradledger.live.tail import BegunAnewError, Tail
from gradledger.report.page.build import parts, script_of
from gradledger.report.replay.retelling import Retelling

PAUSE = 0.2
"""Seconds between two looks at the file."""
LEAST = 0.5
"""Seconds between two states of the page, at least."""
SHARE = 5
"""And so many times what it takes to make one: following must leave the processor to the training."""


class _StoppedError(Exception):
    """Nobody wants to follow any more."""


class Follower:
    """A thread that follows one recording from entering the context until leaving it."""

    def __init__(
        self,
        path: str,
        cwd: str,
        final: Callable[[Answer], Answer],
        name: str | None = None,
        known: tuple[int, ...] | None = None,
    ) -> None:
        self.feed = Feed()
        self._path = path
        self._name = name
        self._known = known
        self._cwd = cwd
        self._final = final
        self._thread = threading.Thread(target=self._run, name="gradledger-following", daemon=True)
        self._stopping = threading.Event()
        self._over = threading.Event()
        self._ending = self._closed = False
        self._telling = Retelling(cwd)
        self._tail: Tail | None = None
        self._due = 0.0
        self._revision = 0
        self._fresh = True
        self._said: State | None = None
        self._trouble: str | None = None
        self.caught_up = threading.Event()
        """The file was read to its end once."""
        self.told_the_end = threading.Event()
        """Whoever looks has been told that the run is over."""
        self.read = 0
        """Events so far."""

    def __enter__(self) -> Follower:
        """Start."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop, and wait for that."""
        self._stopping.set()
        self._thread.join()

    def over(self) -> None:
        """The program that writes the recording has ended, however it did."""
        self._over.set()

    @property
    def state(self) -> State:
        """How things stand."""
        if self._trouble is not None:
            return "broken"
        if self._telling.books.ended or self._closed:
            return "ended"
        return "running" if self._tail is not None and self._tail.there else "waiting"

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._tail = Tail(self._path, self._idle, self._known)
            try:
                self._follow(self._tail)
            except _StoppedError:
                return
            except BegunAnewError:
                self._begin_anew()
            except RecordingError as error:
                self._fail(str(error))
            except OSError as error:
                self._fail(f"cannot read {self._path}: {error.strerror or error}")
            except Exception as error:  # the page must say so instead of standing still
                self._fail(f"{self._path}: the events do not hold together ({type(error).__name__})")
            finally:
                self._tail.close()

    def _follow(self, tail: Tail) -> None:
        for event in read_lines(tail, self._path):
            self._telling.take(event)
            self._fresh = True
            self.read += 1
            if self.read % 512 == 0:
                self.feed.heard()
                self._tell()
                if self._stopping.is_set():
                    raise _StoppedError

    def _begin_anew(self) -> None:
        self._telling, self._trouble, self._fresh = Retelling(self._cwd), None, True
        self._closed = False

    def _fail(self, trouble: str) -> None:
        """What was read stays on the page; a file that is written anew is followed again."""
        self._trouble, self._fresh = trouble, True
        assert self._tail is not None
        try:
            while True:
                self._idle()
                with suppress(OSError):
                    self._tail.compare()
        except _StoppedError:
            return
        except BegunAnewError:
            self._begin_anew()

    def _idle(self) -> None:
        """Nothing is new in the file; if the program had ended before that was seen, nothing will come."""
        self._closed |= self._ending
        self._ending = self._over.is_set()
        if self._fresh:
            self.feed.heard()
        self.caught_up.set()
        self._tell()
        if self._stopping.wait(PAUSE):
            raise _StoppedError

    def _tell(self) -> None:
        """Make the page's next state if something is new, somebody looks, and it is time."""
        state = self.state
        now = time.monotonic()
        if not self._fresh and self._said == state:
            self.feed.confirm()
        elif self.feed.wanted and (now >= self._due or self._closed):
            self._fresh, self._said = False, state
            self._revision += 1
            self.feed.publish(self._news(state))
            if state == "ended":
                self.told_the_end.set()
            self._due = time.monotonic() + max(LEAST, SHARE * (time.monotonic() - now))

    def _news(self, state: State) -> News:
        if self._closed and not self._telling.books.ended:
            told = self._telling.ended()
        else:
            told = self._telling.so_far(() if self._trouble is None else (self._trouble,))
        answer = self._final(told.answer)
        name = self._name or script_of(answer, os.path.basename(self._path))
        running = state in ("waiting", "running")
        return News(self._revision, state, parts(told, answer, name, self._cwd, running=running))
