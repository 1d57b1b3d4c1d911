"""One process under audit: probes, journal and rules together."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence

from gradledger._version import __version__
from gradledger.audit.answer import Answer, Checked
from gradledger.audit.auditor import Auditor
from gradledger.ledger.books import Books
from gradledger.ledger.details import StepsWanted
from gradledger.ledger.errors import AuditError
from gradledger.ledger.events import Event, RunEnded
from gradledger.ledger.journal import Journal
from gradledger.ledger.record import replace
from gradledger.ledger.recorder import Recorder
from gradledger.ledger.repetition import is_calm, repeat
from gradledger.rules.finding import Finding
from gradledger.runtime.detail.telling import Telling
from gradledger.runtime.detail.wanted import Wanted
from gradledger.runtime.probes import Probes


class Session:
    """Watches from start() to finish() and then answers."""

    def __init__(
        self,
        *,
        fail_fast: bool = False,
        save: str | None = None,
        rank: int | None = None,
        details: Wanted | None = None,
    ) -> None:
        self._fail_fast = fail_fast
        self._rank = rank
        self._details = details
        self._recorder = None if save is None else Recorder(save, __version__)
        self._answer: Answer | None = None
        self._raised = False
        self._open()

    def _open(self) -> None:
        self.auditor = Auditor(alarm=self._alarm if self._fail_fast else None)
        record = None if self._recorder is None else self._recorder.write
        self.journal = Journal(self.auditor, record)
        # Details differ from turn to turn: where they are wanted, no turns are booked at once.
        steady = _Steady(self.journal, self._recorder) if self._details is None else None
        self._telling = None
        if record is not None and self._details is not None:
            self._telling = Telling(record, self._details)
            record(StepsWanted(None, tuple(sorted(self._details.steps))))
        self.probes = Probes(self.journal.post, _project(), steady, self._telling, record)

    @property
    def trained(self) -> bool:
        """Whether anything was booked."""
        return bool(self.journal.books.backwards or self.journal.books.steps)

    @property
    def books(self) -> Books:
        """The books, up to date."""
        self.probes.observer.flights.land()
        return self.journal.books

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is known so far."""
        with self.probes.observer.lock:  # other threads may go on training
            return self.auditor.findings(self.books)

    def start(self) -> None:
        """Begin to watch."""
        self.probes.install()

    def finish(self, error: BaseException | None = None) -> Answer:
        """Stop watching and answer; always the same answer."""
        if self._answer is None:
            try:
                self.probes.end(None if isinstance(error, (AuditError, SystemExit)) else error)
            finally:
                self.probes.remove()
            self._answer = self._conclude()
        return self._answer

    def so_far(self) -> Answer:
        """The answer if there is one; before that, what is known now."""
        return self._told() if self._answer is None else self._answer

    def abandon(self) -> None:
        """Stop watching."""
        self.probes.remove()

    def forked(self) -> None:
        """Go on in a forked child with empty books."""
        if self._recorder is not None:
            self._recorder.disown()
        self.probes.remove()
        self._recorder = None
        self._answer = None
        self._open()
        self.probes.install()

    def _conclude(self) -> Answer:
        if not self.journal.books.ended:
            self.journal.post(RunEnded(None, complete=False))
        return self._told(() if self._recorder is None else self._recorder.close())

    def _told(self, notes: Iterable[str] = ()) -> Answer:
        books = self.books
        trouble = self.probes.observer.trouble
        if trouble is not None:
            fault = (
                f"the audit stopped after {books.backwards} backward passes because of a fault of its own "
                f"({type(trouble).__name__}: {trouble}); the program was not touched"
            )
            notes = (fault, *notes)
        if self._telling is not None and self._telling.trouble is not None:
            trouble = self._telling.trouble
            ended = (
                f"the recording's details end early because of a fault of ours ({type(trouble).__name__}: "
                f"{trouble}); the program was not touched"
            )
            notes = (ended, *notes)
        live = [balance for balance in books.balances.values() if balance.trainable]
        checked = Checked(
            backwards=books.backwards,
            steps=books.steps,
            parameters=sum(balance.size for balance in live),
            groups=len(live),
        )
        findings = self.findings
        if self._rank is not None:
            findings = tuple(replace(finding, ranks=(self._rank,)) for finding in findings)
        return Answer("runtime", findings, checked, tuple(notes))

    def _alarm(self, finding: Finding) -> None:
        if self._raised:
            return
        self._raised = True
        raise AuditError(text_of(finding))


class _Steady:
    """Books cycles for the probes."""

    def __init__(self, journal: Journal, recorder: Recorder | None) -> None:
        self._journal = journal
        self._recorder = recorder

    def is_calm(self, events: Sequence[Event]) -> bool:
        """Whether no rule has anything to say of this cycle."""
        return is_calm(self._journal, events)

    def repeat(self, events: Sequence[Event], times: int) -> None:
        """Book the cycle so often, and write it down as such."""
        if self._recorder is not None:
            self._recorder.repeat(events, times)
        with self._journal.unrecorded():
            repeat(self._journal, events, times)


def text_of(finding: Finding) -> str:
    """A finding as the text of an exception."""
    lines = [f"{finding.code} {finding.name}: {finding.site}: {finding.message}"]
    lines += [f"  {related.site}: {related.message}" for related in finding.related]
    lines += [f"  {text}" for text in (finding.detail, finding.remedy and f"fix: {finding.remedy}") if text]
    return "\n".join([*lines, f"  gradledger explain {finding.code}"])


def _project() -> str | None:
    main = sys.modules.get("__main__")
    path = getattr(main, "__file__", None)
    return None if path is None else os.path.dirname(os.path.abspath(path))
