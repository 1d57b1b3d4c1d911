"""Where in a run the rules spoke first."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from gradledger.audit.auditor import Auditor, Count
from gradledger.ledger.books import Balance, Books
from gradledger.ledger.judging import Entry, Hit
from gradledger.ledger.site import Site
from gradledger.ledger.window import Window
from gradledger.rules.finding import Finding


class _Noted:
    """A count that also notes the time of its first hit."""

    __slots__ = ("_count", "_note")

    def __init__(self, count: Count, note: Callable[[Count], None]) -> None:
        self._count = count
        self._note: Callable[[Count], None] | None = note

    def hit(self, step: int, balance: Balance | None) -> None:
        """Count, and note the first time."""
        if self._note is not None:
            self._note(self._count)
            self._note = None
        self._count.hit(step, balance)


class Places:
    """A judge in front of the auditor that remembers when each rule first spoke of each line."""

    def __init__(self, auditor: Auditor, now: Callable[[], int]) -> None:
        self._auditor = auditor
        self._now = now
        self._first: dict[tuple[str, Site | None], int] = {}
        self._unsettled: list[tuple[str, Site | None]] = []
        """What was said at clears that may yet turn out to begin the next micro-batch."""
        self.clearing = False
        self.spoken = 0
        """The last time a rule spoke of something new."""

    def on_entry(self, entry: Entry) -> tuple[Hit, ...]:
        """What the auditor says of an entry."""
        return self._noted(self._auditor.on_entry(entry))

    def on_window(self, window: Window) -> tuple[Hit, ...]:
        """What the auditor says of a window."""
        return self._noted(self._auditor.on_window(window))

    def on_change(self, books: Books) -> None:
        """Nothing waits for the alarm here."""

    def of(self, finding: Finding) -> int | None:
        """When the finding's rule first spoke of its line, or, moved to a better line, at all."""
        exact = self._first.get((finding.code, finding.site))
        if exact is not None:
            return exact
        return min((at for (code, _), at in self._first.items() if code == finding.code), default=None)

    def _noted(self, counts: Iterable[Count]) -> tuple[Hit, ...]:
        return tuple(_Noted(count, self._note) for count in counts)

    def _note(self, count: Count) -> None:
        key = count.rule.code, count.draft.site
        if key not in self._first:
            self._first[key] = self.spoken = self._now()
            if self.clearing:
                self._unsettled.append(key)

    def settle(self, moved: int) -> None:
        """The micro-batch ended; `moved` clears at its end belong to the next one."""
        for key in self._unsettled if moved else ():
            self._first[key] += 1
            self.spoken = self._first[key]
        self._unsettled.clear()
