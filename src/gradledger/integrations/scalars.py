"""What the ledger knows as numbers over steps, for trackers of experiments."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from gradledger.audit.answer import Answer
from gradledger.ledger import details as seen
from gradledger.ledger import events as ev
from gradledger.ledger.journal import Journal
from gradledger.ledger.recording import read
from gradledger.report.replay.states import NAMES, letter

Point = tuple[int, dict[str, float]]
"""A step, counted from 1 over all optimizers, and the numbers at it."""


class Scalars:
    """Follows the events of a run, and gives the numbers of each step, applied or skipped."""

    def __init__(self) -> None:
        self._journal = Journal()
        self._step = 0
        self._applied = 0
        self._optimizers: dict[int | None, str] = {}
        self._losses: list[float] = []
        self._lasting: dict[str, float] = {}
        self._once: dict[str, float] = {}

    def take(self, event: ev.Event) -> Point | None:
        """Read one event."""
        if isinstance(event, seen.Detail):
            self._look(event)
            return None
        point = None
        if isinstance(event, (ev.OptimizerStepped, ev.StepSkipped)):
            point = self._stepped(event)
        elif isinstance(event, ev.NormMeasured):
            self._once["norm/inside"], self._once["norm/this_batch_alone"] = event.inside, event.alone
        self._journal.post(event)
        return point

    def _look(self, event: seen.Detail) -> None:
        match event:
            case seen.LossSeen():
                self._losses.append(event.value)
            case seen.AccuracySeen():
                self._once["accuracy"] = event.value
            case seen.NormSeen():
                self._once["norm/gradient"] = event.value
                if event.before_clip is not None:
                    self._once["norm/before_clip"] = event.before_clip
            case seen.RateSeen():
                self._lasting[f"rate{self._name(event.optimizer)}"] = event.value
            case seen.ScaleSeen():
                self._lasting["loss_scale"] = event.value
            case seen.MemorySeen():
                self._lasting["gradient_bytes"] = float(event.gradients)
            case _:
                pass

    def _stepped(self, event: ev.OptimizerStepped | ev.StepSkipped) -> Point:
        """The numbers as the step found them."""
        self._step += 1
        self._applied += isinstance(event, ev.OptimizerStepped)
        name = self._name(event.optimizer)
        books = self._journal.books
        held = [(books.balances[n], books.accounts[n]) for n in event.accounts if n in books.balances]
        numbers: dict[str, float] = {
            f"inside{name}/fresh_micro_batches": max((b.fresh for b, _ in held), default=0),
            f"inside{name}/stale_micro_batches": max((b.stale for b, _ in held), default=0),
            "outcome/steps_applied": self._applied,
            "outcome/steps_skipped": self._step - self._applied,
            "outcome/cleared_unused": sum(b.cleared_unused for b in books.balances.values()),
        }
        states = [(letter(account), balance.size) for balance, account in held]
        for mark, word in NAMES.items():
            size = sum(size for each, size in states if each == mark)
            if size:
                numbers[f"state{name}/{word.replace(' ', '_')}"] = size
        if self._losses:
            numbers["loss"] = sum(self._losses) / len(self._losses)
        numbers |= self._lasting | self._once
        self._losses.clear()
        self._once.clear()
        finite = {key: float(value) for key, value in numbers.items() if math.isfinite(value)}
        return self._step, {f"gradledger/{key}": value for key, value in finite.items()}

    def _name(self, optimizer: int | None) -> str:
        """Nothing for the first optimizer, a number for the others."""
        known = len(self._optimizers)
        return self._optimizers.setdefault(optimizer, f"_{known + 1}" if known else "")


def points(recording: str | Path) -> Iterator[Point]:
    """The numbers of every step of a recording, in order; RecordingError if it is none."""
    from gradledger.report.replay.retelling import holding_together

    scalars = Scalars()
    events = read(recording)
    while True:
        with holding_together(str(recording)):
            point = next((found for event in events if (found := scalars.take(event)) is not None), None)
        if point is None:
            return
        yield point


def answer_of(recording: str | Path) -> Answer:
    """What the rules say of a recording, as far as the project's settings let it through."""
    from gradledger.integrations.settings import read_settings
    from gradledger.report.replay.retelling import retold
    from gradledger.report.style import working_directory

    return read_settings().heard(retold(str(recording), working_directory()).answer)


def as_markdown(answer: Answer) -> str:
    """The findings as Markdown."""
    from gradledger.report.markdown_form import render
    from gradledger.report.style import StreamFacts, working_directory

    return render(answer, StreamFacts(cwd=working_directory()))


def finding_rows(answer: Answer) -> list[list[str]]:
    """The findings as the rows of a table: code, name, severity, certainty, place, message, fix."""
    return [
        [f.code, f.name, f.severity.value, f.certainty.value, str(f.site), f.message, f.remedy]
        for f in answer.findings
    ]


COLUMNS = ["code", "name", "severity", "certainty", "place", "message", "fix"]
