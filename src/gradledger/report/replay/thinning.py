"""Which micro-batches of a long run are kept: the beginning, the end, whatever is new, and some between."""

from __future__ import annotations

from collections import Counter, deque

from gradledger.ledger.record import dataclass, field

FIRST = 10_000
"""So many are kept whole, which is every run of usual length."""
LAST = 1_000
AROUND = 60
"""Kept on both sides of something new."""
SAMPLE = 40
"""Length of a sample."""
MOST = 20_000
"""Beyond this many the samples in the middle are thinned further."""

Numbers = tuple[tuple[int, int, int, int], ...]
"""For each row: fresh passes, how many passes ago the first of them ran, and the same of the stale ones."""


@dataclass(frozen=True, slots=True)
class Column:
    """One micro-batch."""

    kind: int
    steps: int
    """Steps made before it."""
    numbers: Numbers


@dataclass(slots=True)
class Stretch:
    """Micro-batches in a row."""

    first: int
    columns: list[Column] = field(default_factory=list)
    sampled: bool = False

    @property
    def end(self) -> int:
        """The number after its last."""
        return self.first + len(self.columns)


class Thinned:
    """Takes columns one by one and keeps a bounded number of them, with what is left out counted."""

    def __init__(self) -> None:
        self.stretches: list[Stretch] = []
        self.count = 0
        self._recent: deque[Column] = deque(maxlen=LAST)
        self._until = FIRST
        self._every = 1_000
        self._kept = 0
        self.kinds: Counter[int] = Counter()

    def add(self, column: Column, *, notable: bool = False) -> None:
        """Take the next column."""
        self.count += 1
        self.kinds[column.kind] += 1
        self._recent.append(column)
        number = self.count
        if notable and number > FIRST:
            self._keep_back(number)
            self._until = max(self._until, number + AROUND)
        elif number <= self._until:
            self._keep(number, column)
        elif number % self._every < SAMPLE:
            self._keep(number, column, sampled=True)
        if self._kept > MOST:
            self._thin()

    def so_far(self, latest: Column | None = None) -> list[Stretch]:
        """The stretches with the end of the run, and a last column that may yet change; nothing is taken."""
        end = self.stretches[-1].end if self.stretches else 1
        start = max(end, self.count - len(self._recent) + 1)
        tail = [self._recent[at - self.count - 1] for at in range(start, self.count + 1)]
        tail += [] if latest is None else [latest]
        last = self.stretches[-1] if self.stretches else None
        if not tail:
            return list(self.stretches)
        if last is not None and last.end == start and not last.sampled:
            return [*self.stretches[:-1], Stretch(last.first, last.columns + tail)]
        return [*self.stretches, Stretch(start, tail)]

    def _keep(self, number: int, column: Column, *, sampled: bool = False) -> None:
        last = self.stretches[-1] if self.stretches else None
        if last is not None and last.end == number and last.sampled == sampled:
            last.columns.append(column)
        else:
            self.stretches.append(Stretch(number, [column], sampled))
        self._kept += 1

    def _keep_back(self, number: int) -> None:
        """Keep the latest columns up to this one, as far as they are not kept already."""
        end = self.stretches[-1].end if self.stretches else 1
        start = max(end, number - min(AROUND, len(self._recent)) + 1)
        for at in range(start, number + 1):
            self._keep(at, self._recent[at - number - 1])

    def _thin(self) -> None:
        """Drop every second sample; from now on they are taken half as often."""
        self._every *= 2
        samples = [stretch for stretch in self.stretches if stretch.sampled]
        dropped = {id(stretch) for stretch in samples[1::2]}
        if not dropped:  # only notable ones: the latest of those make room
            dropped = {id(stretch) for stretch in self.stretches[1::2]}
        self.stretches = [stretch for stretch in self.stretches if id(stretch) not in dropped]
        self._kept = sum(len(stretch.columns) for stretch in self.stretches)
