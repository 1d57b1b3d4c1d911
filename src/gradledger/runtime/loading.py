"""The probe at data loaders: which loader gave a new batch, and when one ran out."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any

from torch.utils.data import dataloader

from gradledger.ledger import events as ev
from gradledger.runtime.line import Line
from gradledger.runtime.observer import Observer
from gradledger.runtime.patch import Patches
from gradledger.runtime.shield import shielded


class Batches:
    """Sees every batch that a DataLoader gives."""

    def __init__(self, observer: Observer) -> None:
        self.observer = observer
        self.fresh: int | None = None
        """The loader that has given a batch since the last pass."""
        self._source: int | None = None
        self._taken = 0
        """The loader of the batch that passes run over now, and how many such batches there were."""
        self._open: Callable[[], Any] = _nobody
        """The iterator that gave the last batch, and its loader's number: the way of almost every batch."""
        self._open_number: int | None = None
        self._current: dict[int, weakref.ref[Any]] = {}
        self._joined: dict[int, int] = {}

    def install(self, patches: Patches) -> None:
        """Put the probe in place."""

        def make(original: Callable[..., Any]) -> Callable[..., Any]:
            def __next__(iterator: Any) -> Any:
                try:
                    batch = original(iterator)
                except StopIteration:
                    self._ended(iterator)
                    raise
                if self._open() is iterator and self.fresh is None:
                    self.fresh = self._open_number
                    return batch
                self._given(iterator)
                return batch

            return __next__

        patches.wrap(dataloader._BaseDataLoaderIter, "__next__", make)

    @shielded
    def _given(self, iterator: Any) -> None:
        number = self.number(iterator)
        current = self._current.get(number)
        if current is None or current() is not iterator:
            # A new iterator is a new epoch, also where the old one was not asked for one batch too many.
            if number in self._current:
                self._post_end(number)
            self._current[number] = weakref.ref(iterator)
        self._open, self._open_number = self._current[number], number
        if self.fresh is None:
            self.fresh = number
        else:
            # Loaders read together, as by zip(), are one source: the first to run out ends the epoch.
            self._joined[number] = self.fresh

    @shielded
    def _ended(self, iterator: Any) -> None:
        self._open, self._source = _nobody, None
        number = self.number(iterator)
        self._current.pop(number, None)
        self._post_end(number)

    def _post_end(self, number: int) -> None:
        for source in {number, self._joined.get(number, number)}:
            ended = functools.partial(ev.EpochEnded, None, source)
            self.observer.post(self.observer.same(("epoch", source), ended))

    def number(self, iterator: Any) -> int:
        """The number of the loader that this iterator belongs to."""
        # An iterator lives for one epoch; the data set tells which loader it belongs to.
        owner = iterator._dataset
        try:
            known = self.observer.others.known(owner)
            return self.observer.others.give(owner) if known is None else known
        except TypeError:  # an owner that cannot be referred to weakly, such as a list
            return -1

    def take(self, line: Line) -> None:
        """Note on a line which loader gave a new batch since its last pass, perhaps to another line first."""
        fresh, self.fresh = self.fresh, None
        if fresh is not None:
            self._source = fresh
            self._taken += 1
        line.loader = None if line.batch == self._taken else self._source
        line.shares_batch = fresh is None and line.loader is not None
        line.batch = self._taken


def _nobody() -> None:
    """What a reference to an iterator that is gone gives."""
