"""Which micro-batches are inside each gradient: how many, and the number of the first."""

from __future__ import annotations

from gradledger.ledger import events as ev
from gradledger.ledger.record import dataclass, replace


@dataclass(slots=True)
class Content:
    """The passes inside one account; numbers count the run's backward passes from 1."""

    fresh: int = 0
    fresh_first: int = 0
    stale: int = 0
    stale_first: int = 0

    def post(self, number: int) -> None:
        """A pass added to it."""
        if not self.fresh:
            self.fresh_first = number
        self.fresh += 1

    def use(self) -> None:
        """A step applied what waits here."""
        if self.fresh and not self.stale:
            self.stale_first = self.fresh_first
        self.stale += self.fresh
        self.fresh = 0

    def empty(self) -> None:
        """It was cleared."""
        self.fresh = self.stale = 0


class Contents:
    """The contents of all accounts."""

    def __init__(self) -> None:
        self.of: dict[int, Content] = {}
        self.passes = 0

    def take(self, event: ev.Event) -> None:
        """Follow one event."""
        match event:
            case ev.BackwardRan():
                self.passes += 1
                for number in event.accounts:
                    self.of[number].post(self.passes)
            case ev.OptimizerStepped() | ev.StepSkipped() | ev.ClosureEvaluated():
                for number in event.accounts:
                    self.of[number].use()
            case ev.GradientCleared() | ev.GradientAssigned():
                for number in event.accounts:
                    self.of[number].empty()
            case ev.AccountOpened():
                parent = None if event.parent is None else self.of.get(event.parent)
                self.of[event.account] = Content() if parent is None else replace(parent)
            case _:
                pass
