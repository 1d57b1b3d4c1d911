"""What a rule is: its name, its explanation, its examples and its check, all in one file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from gradledger.rules.finding import Severity

if TYPE_CHECKING:
    from gradledger.ledger.books import Books
    from gradledger.ledger.journal import Entry
    from gradledger.ledger.window import Window
    from gradledger.rules.draft import Draft

HEADINGS = ("What is wrong", "Why it stays silent", "When to allow it")
"""The sections every rule's docstring must have, in this order."""


class Rule:
    """One mistake in the life of a gradient; a subclass without documents or examples cannot be defined."""

    code: ClassVar[str]
    name: ClassVar[str]
    """Reads as "allow ___"."""
    severity: ClassVar[Severity]
    summary: ClassVar[str]
    """What is wrong, in one line."""
    static: ClassVar[str]
    """What the static front end says of it: "yes", "no", or under which condition."""
    runtime: ClassVar[str]
    bad: ClassVar[str]
    """A program with this mistake and no other, the expected line marked `# <- here`."""
    good: ClassVar[str]
    """The same program put right."""
    yields_to: ClassVar[tuple[str, ...]] = ()
    """Rules that explain the same mistake better: where one of them speaks, this one is silent."""

    def __init_subclass__(cls) -> None:
        """Refuse a rule that a user could not look up."""
        missing = [
            field
            for field in ("code", "name", "severity", "summary", "static", "runtime", "bad", "good")
            if not getattr(cls, field, None)
        ]
        text = str(cls.__doc__)
        missing += [f"the section {heading!r}" for heading in HEADINGS if f"{heading}\n" not in text]
        if missing:
            raise TypeError(f"rule {cls.__name__} lacks {', '.join(missing)}")
        if not re.fullmatch(r"GL\d{3}", cls.code) or not re.fullmatch(r"[a-z]+(-[a-z]+)*", cls.name):
            raise TypeError(f"rule {cls.__name__}: a code reads GL101, a name stale-gradient")

    def on_entry(self, entry: Entry) -> Iterable[Draft]:
        """Judge one event on one account; pure, so the journal asks once for each kind of entry."""
        return ()

    def on_window(self, window: Window) -> Iterable[Draft]:
        """Judge one step and what it found; pure, asked once for each kind of window."""
        return ()

    def on_books(self, books: Books) -> Iterable[Draft]:
        """Judge the history: windows, epochs, schedules, totals."""
        return ()

    def refine(self, draft: Draft, books: Books) -> Draft | None:
        """Look once more, knowing the whole history: move the draft to a better line, or withdraw it."""
        return draft
