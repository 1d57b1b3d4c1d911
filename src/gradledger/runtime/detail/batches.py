"""The closer look at data loaders: what a batch consists of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch.utils.data import dataloader

from gradledger.ledger.details import BatchTaken
from gradledger.runtime.detail.by_hand import ByHandLook
from gradledger.runtime.detail.looking import seen_in, tensors_in
from gradledger.runtime.detail.telling import Telling, careful
from gradledger.runtime.loading import Batches
from gradledger.runtime.patch import Patches


class BatchLook:
    """Sees the batches themselves."""

    def __init__(self, telling: Telling, batches: Batches, by_hand: ByHandLook) -> None:
        self.telling = telling
        self._batches = batches
        self._by_hand = by_hand
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
        self._by_hand.taken(batch)
        for taken in self.when_taken:
            taken()
        first = next((tensor for _, tensor in tensors_in(batch)), None)
        self.samples = None if first is None or not first.dim() else first.shape[0]
        closely = self.telling.closely
        # An epoch is over when the next one's first batch comes: some libraries fetch ahead of the passes.
        if closely or iterator._num_yielded == 1:
            site = self._batches.observer.sites.find(2)
            number = self._batches.number(iterator)
            self.telling.tell(BatchTaken(site, number, seen_in(batch) if closely else ()))
