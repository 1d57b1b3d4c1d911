"""The closer look at data loaders: what a batch consists of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch.utils.data import dataloader

from gradledger.ledger.details import BatchTaken
from gradledger.runtime.detail.looking import seen_in, tensors_in
from gradledger.runtime.detail.telling import Telling, careful
from gradledger.runtime.loading import Batches
from gradledger.runtime.patch import Patches


class BatchLook:
    """Sees the batches themselves."""

    def __init__(self, telling: Telling, batches: Batches) -> None:
        self.telling = telling
        self._batches = batches
        self.samples: int | None = None
        """How many samples the last batch had."""
        self.used = False
        """Whether any loader has given a batch."""
        self.when_taken: list[Callable[[], None]] = []

    def install(self, patches: Patches) -> None:
        """Put the probe in place."""

        def make(original: Callable[..., Any]) -> Callable[..., Any]:
            def __next__(iterator: Any) -> Any:
                batch = original(iterator)
                self._taken(iterator, batch)
                return batch

            return __next__

        patches.wrap(dataloader._BaseDataLoaderIter, "__next__", make)

    @careful
    def _taken(self, iterator: Any, batch: Any) -> None:
        self.used = True
        for taken in self.when_taken:
            taken()
        first = next((tensor for _, tensor in tensors_in(batch)), None)
        self.samples = None if first is None or not first.dim() else first.shape[0]
        if self.telling.closely:
            site = self._batches.observer.sites.find(2)
            number = self._batches.number(iterator)
            self.telling.tell(BatchTaken(site, number, seen_in(batch)))
