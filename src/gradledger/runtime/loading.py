"""The probe at data loaders: which loader gave a new batch, and when one ran out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch.utils.data import dataloader

from gradledger.ledger import events as ev
from gradledger.runtime.observer import Observer
from gradledger.runtime.patch import Patches
from gradledger.runtime.shield import shielded


class Batches:
    """Sees every batch that a DataLoader gives."""

    def __init__(self, observer: Observer) -> None:
        self.observer = observer
        self._fresh: int | None = None
        self.lengths: set[int] = set()

    def install(self, patches: Patches) -> None:
        """Put the probe in place."""

        def make(original: Callable[..., Any]) -> Callable[..., Any]:
            def __next__(iterator: Any) -> Any:
                try:
                    batch = original(iterator)
                except StopIteration:
                    self._ended(iterator)
                    raise
                self._given(iterator)
                return batch

            return __next__

        patches.wrap(dataloader._BaseDataLoaderIter, "__next__", make)

    @shielded
    def _given(self, iterator: Any) -> None:
        self._fresh = self._number(iterator)

    @shielded
    def _ended(self, iterator: Any) -> None:
        number = self._number(iterator)
        self.observer.post(self.observer.same(("epoch", number), lambda: ev.EpochEnded(None, number)))

    def _number(self, iterator: Any) -> int:
        # An iterator lives for one epoch; the data set tells which loader it belongs to.
        owner = iterator._dataset
        try:
            known = self.observer.others.known(owner)
            return self.observer.others.give(owner) if known is None else known
        except TypeError:  # an owner that cannot be referred to weakly, such as a list
            return -1

    def take(self) -> int | None:
        """The loader that gave a batch since the last call."""
        fresh, self._fresh = self._fresh, None
        return fresh
