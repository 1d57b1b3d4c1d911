"""A recording told again: the same journal, the same rules, and beside them what the page draws."""

from __future__ import annotations

from collections.abc import Iterable

from gradledger.audit.answer import Answer, Checked
from gradledger.audit.auditor import Auditor
from gradledger.ledger import events as ev
from gradledger.ledger.books import Books
from gradledger.ledger.details import Detail
from gradledger.ledger.journal import Journal
from gradledger.ledger.record import dataclass
from gradledger.ledger.recording import RecordingError, read
from gradledger.report.replay.curves import Curves
from gradledger.report.replay.lines import Lines
from gradledger.report.replay.places import Places
from gradledger.report.replay.stages import Stages
from gradledger.report.replay.states import gravest
from gradledger.report.replay.timeline import Timeline
from gradledger.rules.finding import Finding


@dataclass(slots=True)
class Retold:
    """What a recording says."""

    answer: Answer
    books: Books
    timeline: Timeline
    lines: Lines
    curves: Curves
    stages: Stages
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


def retold(path: str, cwd: str) -> Retold:
    """Read a recording; RecordingError if it is none or does not hold together."""
    try:
        return retell(read(path), cwd)
    except RecordingError:
        raise
    except (AssertionError, AttributeError, KeyError, IndexError, TypeError) as error:
        raise RecordingError(f"{path}: the events do not hold together; the file was altered") from error


def retell(events: Iterable[ev.Event], cwd: str) -> Retold:
    """Post the events as the audited process did."""
    auditor = Auditor()
    lines, curves = Lines(cwd), Curves()
    places = Places(auditor, lambda: timeline.now)
    journal = Journal(places)
    books = journal.books
    stages = Stages(lines, lambda: gravest(books.accounts.values()))
    timeline = Timeline(books, lines, places)
    for event in events:
        if isinstance(event, Detail):
            curves.take(event, timeline.now)
            stages.take(event)
            continue
        timeline.coming(event)
        journal.post(event)
        timeline.came(event)
        curves.take(event, timeline.now)
        stages.take(event)
    cut = not books.ended
    notes: tuple[str, ...] = ()
    if cut:
        journal.post(ev.RunEnded(None, complete=False))
        where = f"after {books.backwards} backward passes and {books.steps} steps"
        notes = (f"the recording breaks off {where}; this is the run up to there",)
    live = [balance for balance in books.balances.values() if balance.trainable]
    checked = Checked(books.backwards, books.steps, sum(b.size for b in live), len(live))
    answer = Answer("runtime", auditor.findings(books), checked, notes)
    return Retold(answer, books, timeline, lines, curves, stages, places, cut)
