"""The probe at data loaders: which loader gave a new batch, and when one ran out."""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable
from typing import Any

from torch.utils.data import dataloader

from gradledger.ledger import events as ev
from gradledger.runtime.line import Line
from gradledger.runtime.observer import Observer
from gradledger.runtime.patch import Patches
from gradledger.runtime.shield import shielded


class _Reading:
    """What one thread has read."""

    def __init__(self) -> None:
        self.fresh: int | None = None
        """The loader that has given a batch since the last pass."""
        self.source: int | None = None
        self.taken = 0
        """The loader of the batch that passes run over now, and how many such batches there were."""
        self.open: Callable[[], Any] = _nobody
        """The iterator that gave the last batch, and its loader's number: the way of almost every batch."""
        self.open_number: int | None = None
        self.current: dict[int, weakref.ref[Any]] = {}
        self.joined: dict[int, int] = {}
        self.numbers: dict[int, int] = {}
        """Numbers of its own for loaders of data that another thread reads as well."""


class _Here(threading.local):
    """The reading of the thread that asks."""

    def __init__(self, everybodys: weakref.WeakValueDictionary[int, _Reading]) -> None:
        self.thread = threading.get_ident()
        self.reading = everybodys[self.thread] = _Reading()


class Batches:
    """Sees every batch that a DataLoader gives."""

    def __init__(self, observer: Observer) -> None:
        self.observer = observer
        self._readings: weakref.WeakValueDictionary[int, _Reading] = weakref.WeakValueDictionary()
        """By thread, as long as it lives."""
        self._here = _Here(self._readings)
        self._readers: dict[int, int] = {}
        """The thread that reads a loader's data under the loader's own number."""

    def install(self, patches: Patches) -> None:
        """Put the probe in place."""
        here = self._here

        def make(original: Callable[..., Any]) -> Callable[..., Any]:
            def __next__(iterator: Any) -> Any:
                try:
                    batch = original(iterator)
                except StopIteration:
                    self._ended(iterator)
                    raise
                reading = here.reading
                if reading.open() is iterator and reading.fresh is None:
                    reading.fresh = reading.open_number
                    return batch
                self._given(iterator)
                return batch

            return __next__

        patches.wrap(dataloader._BaseDataLoaderIter, "__next__", make)

    @shielded
    def _given(self, iterator: Any) -> None:
        reading, number = self._here.reading, self.number(iterator)
        current = reading.current.get(number)
        if current is None or current() is not iterator:
            # A new iterator is a new epoch, also where the old one was not asked for one batch too many.
            if number in reading.current:
                self._post_end(number)
            reading.current[number] = weakref.ref(iterator)
        reading.open, reading.open_number = reading.current[number], number
        if reading.fresh is None:
            reading.fresh = number
        else:
            # Loaders read together, as by zip(), are one source: the first to run out ends the epoch.
            reading.joined[number] = reading.fresh

    @shielded
    def _ended(self, iterator: Any) -> None:
        reading = self._here.reading
        reading.open, reading.source = _nobody, None
        number = self.number(iterator)
        reading.current.pop(number, None)
        self._post_end(number)

    def _post_end(self, number: int) -> None:
        for source in {number, self._here.reading.joined.get(number, number)}:
            ended = functools.partial(ev.EpochEnded, None, source)
            self.observer.post(self.observer.same(("epoch", source), ended))

    def number(self, iterator: Any) -> int:
        """The number of the loader that this iterator belongs to; threads that share data have one each."""
        # An iterator lives for one epoch; the data set tells which loader it belongs to.
        owner = iterator._dataset
        try:
            known = self.observer.others.known(owner)
            number = self.observer.others.give(owner) if known is None else known
        except TypeError:  # an owner that cannot be referred to weakly, such as a list
            number = -1
        here = self._here
        reader = self._readers.setdefault(number, here.thread)
        if reader == here.thread:
            return number
        if reader not in self._readings:
            self._readers[number] = here.thread  # it has ended, and this one goes on
            return number
        own = here.reading.numbers.get(number)
        if own is None:
            own = here.reading.numbers[number] = next(self.observer.loops)
        return own

    def given(self) -> int | None:
        """The loader that has given a batch since the last pass, which is told once."""
        reading = self._here.reading
        fresh, reading.fresh = reading.fresh, None
        if fresh is None and not self.observer.several and len(self._readings) > 1:
            # One thread reads ahead for the one that trains.
            for other in list(self._readings.values()):
                if other.fresh is not None:
                    fresh, other.fresh = other.fresh, None
                    break
        return fresh

    def take(self, line: Line) -> None:
        """Note on a line which loader gave a new batch since its last pass, perhaps to another line first."""
        reading, fresh = self._here.reading, self.given()
        if fresh is not None:
            reading.source = fresh
            reading.taken += 1
        line.loader = None if line.batch == reading.taken else reading.source
        line.fed += line.loader is not None
        line.shares_batch = fresh is None and line.loader is not None
        line.batch = reading.taken


def _nobody() -> None:
    """What a reference to an iterator that is gone gives."""
