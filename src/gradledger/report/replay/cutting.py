"""A run cut into micro-batches: each holds one backward pass and what belongs to it."""

from __future__ import annotations

from collections.abc import Callable

from gradledger.ledger import events as ev
from gradledger.ledger.account import Account
from gradledger.report.replay.contents import Contents

Taken = Callable[[list[ev.Event], dict[int, Account], "list[tuple[int, int, int, int, int]]"], None]
"""What is done with a finished micro-batch: its events, the states before it, and what its pass left."""


class Cutter:
    """Collects events until the next backward pass begins a new micro-batch."""

    def __init__(self, accounts: dict[int, Account], contents: Contents, taken: Taken) -> None:
        self._accounts = accounts
        self._contents = contents
        self._taken = taken
        self._events: list[ev.Event] = []
        self._before: dict[int, Account] = {}
        self._clears: list[tuple[int, dict[int, Account]]] = []
        """Where the clears since the last pass stand, with the states they found."""
        self._left: list[tuple[int, int, int, int, int]] = []
        self._begun = False
        self.moved = 0
        """How many clears the last cut left to the coming micro-batch."""

    def coming(self, event: ev.Event) -> None:
        """An event is about to be booked."""
        if isinstance(event, ev.BackwardRan):
            if self._begun:
                self._cut(event)
            self._begun = True
        elif isinstance(event, ev.GradientCleared) and self._begun:
            self._clears.append((len(self._events), dict(self._accounts)))
        elif not self._events:
            self._before = dict(self._accounts)
        self._events.append(event)

    def came(self, event: ev.Event) -> None:
        """The event has been booked."""
        if isinstance(event, ev.BackwardRan):
            passes = self._contents.passes
            self._left = [
                (number, c.fresh, passes - c.fresh_first if c.fresh else 0, c.stale, passes - c.stale_first)
                if c.stale
                else (number, c.fresh, passes - c.fresh_first if c.fresh else 0, 0, 0)
                for number, c in self._contents.of.items()
            ]

    @property
    def open(self) -> tuple[list[ev.Event], dict[int, Account], list[tuple[int, int, int, int, int]]] | None:
        """The micro-batch that no further pass has ended yet."""
        return (self._events, self._before, self._left) if self._begun else None

    def _cut(self, coming: ev.BackwardRan) -> None:
        """End the micro-batch; a clear written above the coming backward() belongs to the coming one."""
        at, before = len(self._events), dict(self._accounts)
        for place, states in reversed(self._clears):
            if place != at - 1 or not _above(self._events[place], coming):
                break
            at, before = place, states
        moved = self._events[at:]
        self.moved = len(moved)
        self._taken(self._events[:at], self._before, self._left)
        self._events, self._before, self._clears = moved, before, []


def _above(event: ev.Event, coming: ev.BackwardRan) -> bool:
    one, other = event.site, coming.site
    if one is None or other is None:
        return False
    return (one.path, one.cell, one.function) == (other.path, other.cell, other.function) and (
        one.line < other.line
    )
