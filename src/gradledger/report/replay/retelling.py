"""A recording told again: the same journal, the same rules, and beside them what the page draws."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from gradledger.audit.answer import Answer, Checked
from gradledger.audit.auditor import Auditor
from gradledger.ledger import events as ev
from gradledger.ledger.books import Books
from gradledger.ledger.details import Detail, ParametersNamed
from gradledger.ledger.journal import Journal
from gradledger.ledger.record import dataclass
from gradledger.ledger.recording import RecordingError, read
from gradledger.report.replay.lines import Lines
from gradledger.report.replay.places import Places
from gradledger.report.replay.timeline import Timeline
from gradledger.rules.finding import Finding
from gradledger.story.telling import Teller
from gradledger.story.told import Story

Heard = Callable[[Iterable[ev.Event]], Iterable[ev.Event]]


@dataclass(slots=True)
class Retold:
    """What a recording says."""

    answer: Answer
    books: Books
    timeline: Timeline
    lines: Lines
    story: Story
    detailed: bool
    """Losses, shapes and the like were recorded too."""
    places: Places
    cut: bool
    """The recording breaks off."""

    def place_of(self, finding: Finding) -> int | None:
        """The micro-batch at which a finding can be looked at."""
        place = self.places.of(finding)
        if place is not None:
            return place
        sites = (finding.site, *(related.site for related in finding.related))
        found = [self.timeline.first_at(self.lines.number(site)) for site in sites]
        return next((at for at in found if at is not None), None)


def retold(path: str, cwd: str, heard: Heard | None = None) -> Retold:
    """Read a recording; RecordingError if it is none or does not hold together.

    Its events go through `heard`, if that is given, so that somebody can count them.
    """
    with holding_together(path):
        return retell(read(path) if heard is None else heard(read(path)), cwd)


@contextmanager
def holding_together(path: str) -> Iterator[None]:
    """Whatever events that contradict each other lead to is a RecordingError."""
    try:
        yield
    except RecordingError:
        raise
    except (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise RecordingError(f"{path}: the events do not hold together; the file was altered") from error


def retell(events: Iterable[ev.Event], cwd: str) -> Retold:
    """Post the events as the audited process did."""
    telling = Retelling(cwd)
    for event in events:
        telling.take(event)
    return telling.ended()


class Retelling:
    """A recording told again event by event; what it says may be asked for in between."""

    def __init__(self, cwd: str) -> None:
        self._auditor = Auditor()
        self._lines = Lines(cwd)
        self._places = Places(self._auditor, lambda: self._timeline.now)
        self._journal = Journal(self._places)
        self.books = self._journal.books
        self._teller = Teller(self.books)
        self._timeline = Timeline(self.books, self._lines, self._places)

    def take(self, event: ev.Event) -> None:
        """Post one event."""
        timeline, teller = self._timeline, self._teller
        if isinstance(event, ParametersNamed):
            timeline.named(event)
        elif isinstance(event, Detail):
            teller.look(event)
        else:
            timeline.coming(event)
            if teller.detailed:
                teller.coming(event)
            self._journal.post(event)
            timeline.came(event)
            if teller.detailed:
                teller.came(event)
            else:
                teller.overhear(event)

    def ended(self) -> Retold:
        """What it says when no more comes."""
        cut = not self.books.ended
        notes: tuple[str, ...] = ()
        if cut:
            self._journal.post(ev.RunEnded(None, complete=False))
            where = f"after {self.books.backwards} backward passes and {self.books.steps} steps"
            notes = (f"the recording breaks off {where}; this is the run up to there",)
        return self.so_far(notes, cut=cut)

    def so_far(self, notes: tuple[str, ...] = (), *, cut: bool = False) -> Retold:
        """What it says now; rules that need the end of the run are still silent."""
        books = self.books
        live = [balance for balance in books.balances.values() if balance.trainable]
        checked = Checked(books.backwards, books.steps, sum(b.size for b in live), len(live))
        answer = Answer("runtime", self._auditor.findings(books), checked, notes)
        story, detailed = self._teller.story(), self._teller.detailed
        return Retold(answer, books, self._timeline, self._lines, story, detailed, self._places, cut)
