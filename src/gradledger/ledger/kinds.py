"""What the journal remembers of each kind of event: the moves it has made and the windows it has closed."""

from __future__ import annotations

from collections.abc import Callable

from gradledger.ledger import events as ev
from gradledger.ledger.account import Account
from gradledger.ledger.books import ClearTally, ClipBook, PassTally
from gradledger.ledger.judging import Hit
from gradledger.ledger.record import dataclass
from gradledger.ledger.window import Tally, Window


@dataclass(slots=True, eq=False)
class Edge:
    """From one account state to the next."""

    before: Account
    after: Account
    hits: tuple[Hit, ...]


@dataclass(slots=True, eq=False)
class Closing:
    """One kind of window and all it leads to."""

    window: Window
    tally: Tally
    hits: tuple[Hit, ...]
    befores: tuple[Account, ...]
    """Kept alive, because closings are found by their identities."""
    afters: tuple[Account, ...]


class Kind:
    """One kind of event: its handler and the edges it has been on."""

    __slots__ = ("closings", "count", "edges", "event", "handle", "last", "tally")

    def __init__(self, event: ev.Event, handle: Callable[[Kind], None]) -> None:
        self.event = event
        self.handle = handle
        self.count = 0
        self.edges: dict[int, Edge] = {}
        self.closings: dict[tuple[int, ...], Closing] = {}
        self.last: Closing | None = None
        self.tally: Tally | PassTally | ClearTally | ClipBook | None = None
