"""The closer look at one variable of the program, when an epoch is over."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from gradledger.ledger import events as ev
from gradledger.ledger.details import MetricSeen
from gradledger.runtime.detail.batches import BatchLook
from gradledger.runtime.detail.looking import one_number
from gradledger.runtime.detail.telling import Telling, careful
from gradledger.runtime.observer import Observer
from gradledger.runtime.patch import Patches


class MetricLook:
    """Reads the variable when the next epoch begins, or at the end: most compute it after the last batch."""

    def __init__(self, telling: Telling, observer: Observer, batches: BatchLook) -> None:
        self.telling = telling
        self._observer = observer
        self._batches = batches
        self._due = False
        self._frames: list[FrameType] = []
        """Where the epoch ended, innermost first: the last value is read when these may have returned."""

    def install(self, patches: Patches) -> None:
        """Begin to listen."""
        if self.telling.wanted.metric is not None:
            self.telling.ears.append(self._hear)
            self._batches.when_taken.append(self._read_if_due)

    def turned(self) -> None:
        """An epoch without a loader is over."""
        self._due = self.telling.wanted.metric is not None
        self._read_if_due()

    def _hear(self, event: ev.Event) -> None:
        if isinstance(event, ev.BackwardRan):
            self._read_if_due()
            self._frames = self._frames or self._stack()
        elif isinstance(event, ev.EpochEnded):
            self._due = True
            self._frames = self._stack()

    @careful
    def _read_if_due(self) -> None:
        if self._due:
            self._due = False
            self._read(self._stack())

    @careful
    def end(self) -> None:
        """Read what the last epoch left."""
        frames, self._frames = self._frames, []
        if self.telling.wanted.metric is not None:
            self._read(frames)

    def _stack(self) -> list[FrameType]:
        frames = []
        sites = self._observer.sites
        frame = sites.frame(sys._getframe(1))
        while frame is not None:
            frames.append(frame)
            frame = sites.frame(frame.f_back)
        return frames

    def _read(self, frames: list[FrameType]) -> None:
        name = self.telling.wanted.metric or ""
        for frame in frames:
            for scope in (frame.f_locals, frame.f_globals):
                value = _number(scope.get(name))
                if value is not None:
                    self.telling.tell(MetricSeen(None, name, value))
                    return


def _number(thing: Any) -> float | None:
    """The number, or the last one of a list."""
    if isinstance(thing, list) and thing:
        thing = thing[-1]
    return None if thing is None else one_number(thing)
