"""The ledger timeline: accounts as rows, micro-batches as columns, every cell the state of an account."""

from __future__ import annotations

from gradledger.ledger import events as ev
from gradledger.ledger.account import Account
from gradledger.ledger.books import Books
from gradledger.ledger.details import ParametersNamed
from gradledger.report.replay.contents import Contents
from gradledger.report.replay.cutting import Cutter
from gradledger.report.replay.kinds import OTHER, Kinds
from gradledger.report.replay.lines import Lines
from gradledger.report.replay.places import Places
from gradledger.report.replay.ramps import Ramp
from gradledger.report.replay.thinning import Column, Numbers, Stretch, Thinned

NAMES = 64
"""Parameters of one group that are named."""
ROWS = 32
"""More groups of parameters than this are counted and not drawn."""
_REMEMBERED = 50_000


class Timeline:
    """Follows the events of a run beside the journal."""

    def __init__(self, books: Books, lines: Lines, places: Places) -> None:
        self._books = books
        self._lines = lines
        self._places = places
        self._rows: dict[int, int] = {}
        self._opened: list[ev.AccountOpened] = []
        self._names: dict[int, tuple[str, ...]] = {}
        self._hidden = 0
        self._starts: list[int] = []
        self._contents = Contents()
        self._kinds = Kinds(lines, self._rows)
        self._cutter = Cutter(books.accounts, self._contents, self._take)
        self.columns = Thinned()
        self._seen = 0
        self._steps = 0
        self._same: dict[Numbers, Numbers] = {}
        self._first_at: dict[int, int] = {}
        self._first_lost: dict[int, int] = {}

    @property
    def now(self) -> int:
        """The number of the micro-batch that is being booked."""
        return max(1, self._contents.passes)

    def coming(self, event: ev.Event) -> None:
        """Look at an event before it is booked."""
        if isinstance(event, ev.AccountOpened) and event.trainable:
            if len(self._rows) < ROWS:
                self._rows[event.account] = len(self._opened)
                self._opened.append(event)
                self._starts.append(self.now)
            else:
                self._hidden += 1
        self._places.clearing = isinstance(event, ev.GradientCleared)
        self._cutter.coming(event)
        self._contents.take(event)

    def named(self, event: ParametersNamed) -> None:
        """The names of a group's parameters; what rules read, the books, stays as in the run."""
        self._names[event.account] = event.names

    def came(self, event: ev.Event) -> None:
        """Look at the books after it."""
        self._cutter.came(event)

    def first_at(self, line: int) -> int | None:
        """The first micro-batch in which this line lost something or, if it never does, ran at all."""
        return self._first_lost.get(line) or self._first_at.get(line)

    def data(self) -> dict[str, object]:
        """Everything up to now, as plain values; it may be asked for at any time."""
        latest = self._latest()
        stretches = self.columns.so_far(latest)
        kept = sum(len(stretch.columns) for stretch in stretches)
        return {
            "rows": [
                self._row(event, start) for event, start in zip(self._opened, self._starts, strict=True)
            ],
            "hidden": self._hidden,
            "kinds": [{"marks": marks, "cells": dict(cells)} for marks, cells in self._kinds.listed],
            "stretches": [self._stretch(stretch) for stretch in stretches],
            "count": self.columns.count + (latest is not None),
            "kept": kept,
            "unlike": self.columns.kinds[OTHER] + (latest is not None and latest.kind == OTHER),
        }

    def _latest(self) -> Column | None:
        """The micro-batch that is still open, as it looks now."""
        if self._cutter.open is None:
            return None
        events, before, left = self._cutter.open
        return Column(self._kinds.number(events, before), self._steps, self._numbers(left))

    def _numbers(self, left: list[tuple[int, int, int, int, int]]) -> Numbers:
        numbers = tuple((a, b, c, d) for account, a, b, c, d in left if account in self._rows)
        if len(self._same) > _REMEMBERED:
            self._same.clear()
        return self._same.setdefault(numbers, numbers)

    def _take(
        self,
        events: list[ev.Event],
        before: dict[int, Account],
        left: list[tuple[int, int, int, int, int]],
    ) -> None:
        self._places.settle(self._cutter.moved)
        kind = self._kinds.number(events, before)
        number = self.columns.count + 1
        new = kind >= self._seen
        if new:
            self._seen = kind + 1
            for word, line, _ in self._kinds.listed[kind][0]:
                self._first_at.setdefault(line, number)
                if word == "lose":
                    self._first_lost.setdefault(line, number)
        spoken = self._places.spoken == number
        self.columns.add(Column(kind, self._steps, self._numbers(left)), notable=new or spoken)
        self._steps += sum(isinstance(event, ev.OptimizerStepped) for event in events)

    def _row(self, event: ev.AccountOpened, start: int) -> dict[str, object]:
        balance = self._books.balances[event.account]
        book = self._books.optimizers.get(balance.optimizer)
        built = None if book is None or balance.optimizer is None else book.built
        parent = None if event.parent is None else self._rows.get(event.parent)
        return {
            "names": list(self._names.get(event.account, balance.names)[:NAMES]),
            "size": balance.size,
            "optimizer": balance.optimizer,
            "kind": "" if built is None else built.kind,
            "line": -1 if built is None else self._lines.number(built.site),
            "parent": parent,
            "start": start,
            "posted": balance.posted,
            "wasted": balance.cleared_unused,
        }

    def _stretch(self, stretch: Stretch) -> dict[str, object]:
        kinds: list[int] = []
        for column in stretch.columns:
            if kinds and kinds[-2] == column.kind:
                kinds[-1] += 1
            else:
                kinds += [column.kind, 1]
        rows = max(len(column.numbers) for column in stretch.columns)
        ramps = [[Ramp() for _ in range(4)] for _ in range(rows)]
        for column in stretch.columns:
            for row in range(rows):
                numbers = column.numbers[row] if row < len(column.numbers) else (0, 0, 0, 0)
                for ramp, number in zip(ramps[row], numbers, strict=True):
                    ramp.add(number)
        return {
            "first": stretch.first,
            "count": len(stretch.columns),
            "steps": stretch.columns[0].steps,
            "kinds": kinds,
            "numbers": [[ramp.runs for ramp in row] for row in ramps],
        }
