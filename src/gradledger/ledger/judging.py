"""What the journal shows to whoever judges it."""

from __future__ import annotations

from typing import Protocol

from gradledger.ledger import events as ev
from gradledger.ledger.account import Account
from gradledger.ledger.books import Balance, Books
from gradledger.ledger.record import dataclass
from gradledger.ledger.window import Window


@dataclass(frozen=True, slots=True)
class Entry:
    """One event on one account."""

    event: ev.Event
    before: Account
    after: Account


class Hit(Protocol):
    """Something that counts how often a judged kind of entry came."""

    def hit(self, step: int, balance: Balance | None) -> None:
        """Count once more."""


class Judge(Protocol):
    """Whoever wants to see each new kind of entry and window."""

    def on_entry(self, entry: Entry) -> tuple[Hit, ...]:
        """What to count whenever this kind of entry comes."""

    def on_window(self, window: Window) -> tuple[Hit, ...]:
        """What to count whenever this kind of window comes."""

    def on_change(self, books: Books) -> None:
        """Something new entered the history."""


class Silent:
    """A judge that says nothing."""

    def on_entry(self, entry: Entry) -> tuple[Hit, ...]:
        """Nothing to count."""
        return ()

    def on_window(self, window: Window) -> tuple[Hit, ...]:
        """Nothing to count."""
        return ()

    def on_change(self, books: Books) -> None:
        """Nothing to do."""
