"""Rules read the journal: entries and windows as they come, the books when asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from gradledger.ledger.books import Balance, Books
from gradledger.ledger.journal import Entry
from gradledger.ledger.record import dataclass, replace
from gradledger.ledger.site import Site
from gradledger.ledger.window import Window
from gradledger.rules.catalogue import catalogue
from gradledger.rules.draft import Draft, Numbers
from gradledger.rules.finding import Certainty, Finding
from gradledger.rules.rule import Rule

KINDS_AT_ONE_PLACE = 64
"""So many kinds of entries or windows with one mistake at one place are counted apart."""


@dataclass(slots=True, eq=False)
class Count:
    """At how many steps one draft held, with the numbers of the last time."""

    rule: Rule
    draft: Draft
    count: int = 0
    first: int = 0
    last: int = 0
    stale: int = 0
    fresh: int = 0
    inside_norm: float | None = None
    alone_norm: float | None = None
    norm_step: int = 0

    def hit(self, step: int, balance: Balance | None) -> None:
        """Count the step, once however many accounts it has."""
        self.count += step != self.last
        self.first = self.first or step
        self.last = step
        if balance is not None:
            self.stale, self.fresh = balance.stale, balance.fresh
            self.inside_norm, self.alone_norm = balance.inside_norm, balance.alone_norm
            self.norm_step = balance.norm_step

    def numbers(self) -> Numbers:
        """What has been counted so far."""
        return Numbers(
            count=self.count,
            first=self.first,
            last=self.last,
            steps=0,
            stale=self.stale,
            fresh=self.fresh,
            inside_norm=self.inside_norm,
            alone_norm=self.alone_norm,
            norm_step=self.norm_step,
        )


@dataclass(frozen=True, slots=True)
class _Statement:
    """What one rule says of one kind of entry, of one kind of window or of the books."""

    rule: Rule
    draft: Draft
    numbers: Numbers

    @property
    def place(self) -> tuple[str, str, int, Certainty]:
        """Statements of one rule at one place are one finding."""
        assert self.draft.site is not None
        return self.rule.code, self.draft.site.path, self.draft.site.line, self.draft.certainty


class Auditor:
    """Judges what the journal shows it and keeps what was said."""

    def __init__(
        self, rules: Iterable[Rule] | None = None, alarm: Callable[[Finding], None] | None = None
    ) -> None:
        self.rules = tuple(catalogue() if rules is None else rules)
        self.alarm = alarm
        self._counts: list[Count] = []
        self._kinds: dict[tuple[str, Site | None, Certainty, int | None], list[Count]] = {}
        self._entry_rules = [r for r in self.rules if type(r).on_entry is not Rule.on_entry]
        self._window_rules = [r for r in self.rules if type(r).on_window is not Rule.on_window]
        self._books_rules = [r for r in self.rules if type(r).on_books is not Rule.on_books]

    def on_entry(self, entry: Entry) -> tuple[Count, ...]:
        """What the rules say of a new kind of entry."""
        return self._kept((rule, draft) for rule in self._entry_rules for draft in rule.on_entry(entry))

    def on_window(self, window: Window) -> tuple[Count, ...]:
        """What the rules say of a new kind of window."""
        return self._kept((rule, draft) for rule in self._window_rules for draft in rule.on_window(window))

    def on_change(self, books: Books) -> None:
        """Raise the alarm, if one is wanted, for what is known now."""
        if self.alarm is None:
            return
        for finding in self.findings(books):
            if finding.fails:
                self.alarm(finding)

    def findings(self, books: Books) -> tuple[Finding, ...]:
        """All that is known now, each mistake by its most specific explanation, in the source's order."""
        said = list(self._statements(books))
        speakers: dict[str, list[Draft]] = {}
        for statement in said:
            speakers.setdefault(statement.rule.code, []).append(statement.draft)
        places: dict[tuple[str, str, int, Certainty], list[_Statement]] = {}
        for statement in said:
            if not _explained(statement, speakers):
                places.setdefault(statement.place, []).append(statement)
        findings = (_finding(statements, books) for statements in places.values())
        return tuple(sorted(findings, key=lambda f: (f.site.path, f.site.line, f.code)))

    def _kept(self, drafts: Iterable[tuple[Rule, Draft]]) -> tuple[Count, ...]:
        """Count each rule once at each place, however many accounts it found there."""
        counts: dict[tuple[str, Site | None, Certainty], Count] = {}
        for rule, draft in drafts:
            counts.setdefault((rule.code, draft.site, draft.certainty), Count(rule, draft))
        return tuple(map(self._counted, counts.values()))

    def _counted(self, count: Count) -> Count:
        """The count itself; of a program that never repeats itself, one for all further kinds at a place."""
        draft = count.draft
        place = count.rule.code, draft.site, draft.certainty, draft.optimizer
        known = self._kinds.setdefault(place, [])
        if len(known) == KINDS_AT_ONE_PLACE:
            return known[-1]
        known.append(count)
        self._counts.append(count)
        return count

    def _statements(self, books: Books) -> Iterator[_Statement]:
        drafts = [(count.rule, count.draft, count.numbers()) for count in self._counts if count.count]
        for rule in self._books_rules:
            drafts += [
                (rule, draft, Numbers(draft.count or 1, draft.first_step or 0, 0, 0))
                for draft in rule.on_books(books)
            ]
        for rule, draft, numbers in drafts:
            refined = rule.refine(draft, books)
            if refined is not None and refined.site is not None:
                yield _Statement(rule, refined, numbers)


def _explained(statement: _Statement, speakers: dict[str, list[Draft]]) -> bool:
    """Whether a more specific rule, no less certain, speaks of the same optimizer or the same line."""
    draft = statement.draft
    return any(
        (draft.optimizer is None or other.optimizer in (None, draft.optimizer) or other.site == draft.site)
        and (other.certainty is Certainty.CERTAIN or draft.certainty is Certainty.POSSIBLE)
        for code in statement.rule.yields_to
        for other in speakers.get(code, ())
    )


def _finding(statements: list[_Statement], books: Books) -> Finding:
    """One finding for all statements of one rule at one place, told by the one that held most often."""
    most = max(statements, key=lambda statement: statement.numbers.count)
    rule, draft, numbers = most.rule, most.draft, _joined(statements, books)
    assert draft.site is not None
    return Finding(
        code=rule.code,
        name=rule.name,
        severity=rule.severity,
        certainty=draft.certainty,
        site=draft.site,
        message=draft.message,
        related=tuple(
            r for r in draft.related if (r.site.path, r.site.line) != (draft.site.path, draft.site.line)
        ),
        detail=draft.detail(numbers),
        remedy=draft.remedy,
        count=numbers.count,
        first_step=numbers.first or None,
    )


def _joined(statements: list[_Statement], books: Books) -> Numbers:
    """The counts together, the measurements of the latest."""
    all_numbers = [statement.numbers for statement in statements]
    optimizers = {statement.draft.optimizer for statement in statements}
    steps = min(sum(_steps(books, optimizer) for optimizer in optimizers), books.steps)
    count = sum(numbers.count for numbers in all_numbers)
    if steps and all(statement.draft.count is None for statement in statements):
        count = min(count, steps)  # these count steps, and two kinds of accounts may share one
    latest = max(all_numbers, key=lambda numbers: numbers.last)
    firsts = [numbers.first for numbers in all_numbers if numbers.first]
    return replace(latest, count=count, first=min(firsts, default=0), steps=steps)


def _steps(books: Books, optimizer: int | None) -> int:
    book = books.optimizers.get(optimizer)
    return book.steps if book is not None and book.steps else books.steps
