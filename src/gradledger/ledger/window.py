"""The micro-batches between two steps of one optimizer."""

from __future__ import annotations

from collections.abc import Iterator

from gradledger.ledger.account import Account, Lost, Posting
from gradledger.ledger.events import LossMeasured, OptimizerStepped
from gradledger.ledger.record import dataclass, field
from gradledger.ledger.site import Site


@dataclass(frozen=True, slots=True)
class Window:
    """A step and the accounts as it found them; equal windows are one object inside a journal."""

    step: OptimizerStepped
    accounts: tuple[Account, ...]

    @property
    def size(self) -> int:
        """How many postings the fullest account held."""
        return max((account.waiting for account in self.accounts), default=0)

    @property
    def fullest(self) -> Account:
        """The account with most postings."""
        return max(self.accounts, key=lambda account: account.waiting, default=Account())

    @property
    def tail(self) -> int:
        """How many of them came from an epoch that had ended."""
        return max((account.tail for account in self.accounts), default=0)

    @property
    def one_line(self) -> Site | None:
        """The backward() line, if a single one filled this window."""
        sites = {posting.site for posting in self.fullest.postings()}
        return sites.pop() if len(sites) == 1 else None

    @property
    def empty(self) -> bool:
        """Whether the step found nothing that a backward() or the program had put there."""
        return all(account.content in ("none", "zero") for account in self.accounts)

    def lost(self) -> Iterator[Lost]:
        """What was cleared unused before this step."""
        return (lost for account in self.accounts for lost in account.lost)

    def postings(self) -> Iterator[Posting]:
        """Every kind of posting in it."""
        return (posting for account in self.accounts for posting in account.postings())


@dataclass(slots=True)
class Tally:
    """How often something happened, and at which steps first and last."""

    count: int = 0
    first: int = 0
    last: int = 0

    def hit(self, step: int) -> None:
        """Count once more."""
        if not self.count:
            self.first = step
        self.count += 1
        self.last = step


@dataclass(slots=True)
class Sequence:
    """Windows in the order of the steps, equal ones in a row counted; bounded, the middle goes first."""

    most: int = 4096
    runs: list[tuple[Window, int]] = field(default_factory=list)
    dropped: int = 0

    def add(self, window: Window, times: int = 1) -> None:
        """Append a window."""
        runs = self.runs
        if runs and runs[-1][0] is window:
            runs[-1] = (window, runs[-1][1] + times)
            return
        runs.append((window, times))
        if len(runs) > self.most:
            middle = self.most // 2
            self.dropped += runs.pop(middle)[1]

    def sizes(self) -> list[tuple[int, int]]:
        """(size, how often in a row), adjoining equal sizes joined."""
        joined: list[tuple[int, int]] = []
        for window, count in self.runs:
            if joined and joined[-1][0] == window.size:
                joined[-1] = (window.size, joined[-1][1] + count)
            else:
                joined.append((window.size, count))
        return joined


@dataclass(slots=True)
class MeasuredWindow:
    """What the losses of one window were made of, pass by pass."""

    step: int
    window: Window
    losses: tuple[LossMeasured, ...]
