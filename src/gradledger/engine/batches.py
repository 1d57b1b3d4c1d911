"""Batches, with the knowledge of where windows and the epoch end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from gradledger.engine.cycle import Cycle
from gradledger.engine.policy import Tail
from gradledger.engine.randomness import Randomness
from gradledger.ledger.errors import LedgerError
from gradledger.ledger.site import Site

Batch = TypeVar("Batch")


class Position:
    """How far the epoch has come, and what a resumed run needs to get there again."""

    def __init__(self) -> None:
        self.batch = 0
        """Batches handed out in this epoch."""
        self.skip = 0
        """Batches that a resumed epoch has to leave out."""
        self.start: Randomness | None = None
        """When the epoch's order was drawn."""
        self.ahead: Randomness | None = None
        """Before the batch after the one in hand was fetched."""
        self.now: Randomness | None = None
        """When the checkpoint was made."""

    def state_dict(self) -> dict[str, Any]:
        """As plain data; what was loaded and not yet gone on from is saved as it was."""
        now = self.now if self.skip and self.now is not None else Randomness.take()
        return {
            "batch": self.batch + self.skip,
            "start": None if self.start is None else self.start.state_dict(),
            "ahead": None if self.ahead is None else self.ahead.state_dict(),
            "now": now.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Begin the next epoch where this one was left."""
        self.batch, self.skip = 0, state["batch"]
        self.start, self.ahead, self.now = (
            None if state[name] is None else Randomness.from_state(state[name])
            for name in ("start", "ahead", "now")
        )


class Walk:
    """One epoch over a loader."""

    def __init__(self, cycle: Cycle, loader: Iterable[Any], position: Position, tail: Tail) -> None:
        self._cycle = cycle
        self._loader = loader
        self._position = position
        self._tail = tail

    def run(self, site: Site) -> Iterator[Any]:
        """Hand out the batches, then treat the tail."""
        cycle, position = self._cycle, self._position
        if not position.skip:
            # An epoch that was left by `break` ends when the next one begins.
            cycle.finish(site, self._tail)
            position.batch, position.start = 0, Randomness.take(self._loader)
        total = _length(self._loader)
        source = self._resumed() if position.skip else iter(self._loader)
        try:
            yield from self._sized(source, total) if total is not None else self._unsized(source)
        finally:
            cycle.left, cycle.ends, cycle.filler = 0, False, False
            cycle.announce()
        position.batch, position.ahead = 0, None
        cycle.finish(site, self._tail)

    def _resumed(self) -> Iterator[Any]:
        """Draw the epoch's order again, leave out what was done, and go on with the randomness of then."""
        position = self._position
        if position.start is not None:
            position.start.restore(self._loader)
        source = iter(self._loader)
        for _ in range(position.skip):
            next(source, None)
        position.batch, position.skip = position.skip, 0
        if position.now is not None:
            position.now.restore()
        return source

    def _sized(self, source: Iterator[Any], total: int) -> Iterator[Any]:
        cycle, position = self._cycle, self._position
        least, most = cycle.reduction.extremes(float(total))
        if least != most and self._tail == "carry":
            raise LedgerError(
                f'the ranks have between {least:.0f} and {most:.0f} batches: with tail="carry" their '
                "windows would "
                'fall out of step. Use tail="flush" or "drop".'
            )
        if cycle.reduction.needs_equal_passes and least == 0 < most:
            raise LedgerError(
                "a rank has no batches at all: sharded training needs at least one on every rank"
            )
        batch = None
        while position.batch < total:
            # Where ranks differ, one of them may be alone in a forward, and DDP must not wait for the others
            # there.
            cycle.left = total - position.batch if least == most else 0
            together = least == most or cycle.reduction.needs_equal_passes
            cycle.ends = position.batch + 1 == most and together and self._tail == "flush"
            cycle.announce()
            try:
                batch = next(source)
            except StopIteration:
                break
            position.batch += 1
            yield batch
        if cycle.reduction.needs_equal_passes:
            yield from self._fillers(batch, int(most) - total, last=self._tail == "flush")

    def _fillers(self, batch: Any, number: int, *, last: bool) -> Iterator[Any]:
        """Hand out the last batch again, without weight: the others need this rank's part of the model."""
        for left in range(number, 0, -1):
            self._cycle.filler = True
            self._cycle.ends = last and left == 1
            yield batch
        self._cycle.filler = False

    def _unsized(self, source: Iterator[Any]) -> Iterator[Any]:
        """Stay one batch ahead: only so the last one is known to be the last."""
        cycle, position = self._cycle, self._position
        alone = cycle.reduction.ranks == 1
        resumed, position.ahead = position.ahead if position.batch else None, None
        now = Randomness.take() if resumed is not None else None
        if resumed is not None:
            resumed.restore()
        position.ahead = resumed or Randomness.take()
        ahead = next(source, _END)
        if now is not None:
            now.restore()
        batch = None
        while ahead is not _END or self._others_go_on(here=False):
            if ahead is not _END and cycle.reduction.needs_equal_passes:
                self._others_go_on(here=True)
            cycle.filler = ahead is _END
            batch = batch if ahead is _END else ahead
            if ahead is not _END:
                # Workers draw their own random numbers; only a loader without them uses those of this
                # process.
                position.ahead = None if getattr(self._loader, "num_workers", 0) else Randomness.take()
                ahead = next(source, _END)
                position.batch += 1
            cycle.ends = alone and ahead is _END and self._tail == "flush"
            yield batch

    def _others_go_on(self, *, here: bool) -> bool:
        """Whether some rank still has a batch; asked by all ranks before each pass that they run together."""
        if not self._cycle.reduction.needs_equal_passes:
            return False
        return self._cycle.reduction.extremes(float(here))[1] > 0


_END: Any = object()


def _length(loader: Any) -> int | None:
    """How many batches there are; a DataLoader over a stream has the method and raises."""
    try:
        return len(loader)
    except (TypeError, NotImplementedError):
        return None
