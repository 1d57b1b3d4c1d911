"""Level flight: a loop that has repeated itself often enough is checked in outline for a while.

After many identical turns (the same events from the same lines, nothing to report) the probes stop looking
at every gradient. They check that each call comes from the line that is due and that one gradient of each
account is in the state that is due, and only count. Every sixty-fourth turn is audited in full again, and
anything unexpected ends the flight at once: the turns are booked, the unfinished one event by event, and the
probe goes on as usual.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from operator import is_
from threading import RLock
from time import monotonic
from types import CodeType
from typing import Any

from gradledger.ledger import events as ev
from gradledger.ledger.errors import AuditError
from gradledger.ledger.site import Site
from gradledger.runtime.alteration import sample_of
from gradledger.runtime.cohort import KEPT_WHOLE, Cohort, Gone, size
from gradledger.runtime.numbering import Numbering
from gradledger.runtime.stages import Sentinel, Stage

TURNS_BEFORE = 32
TURNS_AT_ONCE = 63
MOST_EVENTS = 80
SECONDS = 1.0
"""Turns that take longer are booked in flight."""


class Cruise:
    """Follows the turns of a loop and decides when to look less closely."""

    def __init__(
        self,
        is_calm: Callable[[Sequence[ev.Event]], bool],
        repeat: Callable[[Sequence[ev.Event], int], None],
        land: Callable[[Cruise, Sequence[ev.Event]], None],
        places: Callable[[Any], tuple[CodeType, int] | None],
        cohorts: Callable[[], Sequence[Cohort]],
        optimizers: Numbering,
        others: Numbering,
        fail: Callable[[Exception], None],
        lock: RLock,
    ) -> None:
        self.on = False
        self.allowed = True
        self.turn: list[ev.Event] = []
        """The events since the last step."""
        self.last_event: Site | None = None
        self.last_backward: Site | None = None
        """The lines of the latest event and of the latest backward of this thread."""
        self._is_calm, self._repeat, self._land = is_calm, repeat, land
        self._places, self._cohorts = places, cohorts
        self._optimizers, self._others = optimizers, others
        self._fail = fail
        self._lock = lock
        self._last: list[ev.Event] = []
        self._streak = 0
        self._proven: list[ev.Event] | None = None
        self._stages: list[Stage] = []
        self._at = 0
        self._turns = 0
        """Whole turns of this flight that are not yet booked."""
        self._told = 0
        """Those that are."""
        self._due = 0.0

    # -- finding a steady loop --------------------------------------------------------------------------

    def stepped(self) -> None:
        """A step was booked in full: does the turn that it closes equal those before?"""
        turn, self.turn = self.turn, []
        if not self.allowed or len(turn) > MOST_EVENTS:
            return
        if self._proven is not None and _equal(turn, self._proven):
            self._take_off()
            return
        self._streak = self._streak + 1 if _equal(turn, self._last) else 0
        self._last = turn
        if self._streak >= TURNS_BEFORE and self._is_calm(turn) and self._prepare(turn):
            self._proven = turn
            self._streak = 0
            self._take_off()

    def _prepare(self, turn: list[ev.Event]) -> bool:
        cohorts = {cohort.account: cohort for cohort in self._cohorts()}
        if any(cohort.param_mark is not None or cohort.local for cohort in cohorts.values()):
            return False
        try:
            sentinels = {number: Sentinel(cohort) for number, cohort in cohorts.items()}
            if any(min(map(size, cohort.params())) > KEPT_WHOLE for cohort in cohorts.values()):
                return False  # a sentinel holds its gradient, and one so large must not be held
        except Gone:
            return False
        stages = []
        for event in turn:
            place = self._places(event.site)
            numbers: Sequence[int] = getattr(event, "accounts", ())
            if place is None or any(number not in sentinels for number in numbers):
                return False
            parties = self._parties(event)
            stages.append(Stage(event, place, [sentinels[number] for number in numbers], *parties))
        self._stages = stages
        return True

    def _parties(self, event: ev.Event) -> tuple[Callable[[], Any] | None, Callable[[], Any] | None]:
        """Whose method it was, and on which optimizer."""
        match event:
            case ev.GradientCleared(owner=int(number)) | ev.OptimizerStepped(optimizer=int(number)):
                return self._optimizers.behind(number), None
            case ev.GradientsUnscaled() | ev.ScalerStepped():
                return self._others.behind(event.scaler), self._optimizers.behind(event.optimizer)
            case ev.LossScaled() | ev.ScalerUpdated():
                return self._others.behind(event.scaler), None
            case ev.SchedulerStepped():
                return self._others.behind(event.scheduler), None
            case _:
                return None, None

    def _take_off(self) -> None:
        for stage in self._stages:
            stage.note()
        self._at = self._turns = self._told = 0
        self._due = monotonic() + SECONDS
        self.on = True

    # -- the stages of a turn ---------------------------------------------------------------------------

    @property
    def due(self) -> Stage:
        """The stage that comes next."""
        return self._stages[self._at]

    def clears(self, owner: Any = None) -> bool:
        """A zero_grad() has run: was it due, and did it clear?"""
        with self._lock:
            stage = self._stages[self._at]
            if self.on and stage.is_due(ev.GradientCleared, owner):
                for sentinel in stage.sentinels:
                    param = sentinel.ref()
                    if param is None or param.grad is not None:
                        break
                    sentinel.grad = None
                else:
                    self._at += 1
                    return True
            self.leave()
            return False

    def begins(self, kind: type[ev.Event], who: Any = None, on: Any = None) -> bool:
        """Something is about to work on gradients: was it due, and are they as they should be?"""
        with self._lock:
            if self.on and self._stages[self._at].is_due(kind, who, on):
                return True
            self.leave()
            return False

    def added(self, loader: int | None) -> None:
        """The backward() that was due has run: did it add to the gradients?"""
        with self._lock:
            stage = self._stages[self._at]
            if not self.on:
                self._book_late(stage)
                return
            fitting = stage.loader == loader
            for sentinel in stage.sentinels:
                param = sentinel.ref()
                grad = None if param is None else param.grad
                version = 0 if grad is None else grad._version
                if grad is None or (grad is sentinel.grad and version == sentinel.version):
                    fitting = False
                sentinel.grad, sentinel.version = grad, version
                if stage.sampled:
                    sentinel.sample = sample_of(grad)
            self._at += 1
            if not fitting:
                self._proven = None
                self.leave()

    def altered(self) -> None:
        """The clipping or unscaling that was due has run, and has changed the gradients in place."""
        with self._lock:
            stage = self._stages[self._at]
            if not self.on:
                self._book_late(stage)
                return
            for sentinel in stage.sentinels:
                sentinel.note()
            self._at += 1

    def passes(self, kind: type[ev.Event], who: Any, on: Any = None) -> bool:
        """Something that concerns no gradient has happened: was it due?"""
        with self._lock:
            if self.on and self._stages[self._at].is_due(kind, who, on):
                self._at += 1
                return True
            self.leave()
            return False

    def steps(self, optimizer: Any) -> bool:
        """A step is about to run: was it due, on gradients as they were left?"""
        with self._lock:
            if not (self.on and self._stages[self._at].is_due(ev.OptimizerStepped, optimizer)):
                self.leave()
                return False
            self._at += 1
            if self._at == len(self._stages):
                self._at = 0
                self._turns += 1
                if self._turns + self._told >= TURNS_AT_ONCE:
                    self.leave()
                elif monotonic() >= self._due:
                    self._safely(self._tell)
            return True

    def _tell(self) -> None:
        """Book the turns so far; whoever reads the books, or a recording, need not wait for the landing."""
        self._due = monotonic() + SECONDS
        turns, self._turns = self._turns, 0
        self._told += turns
        self._repeat([stage.event for stage in self._stages], turns)

    # -- ending -----------------------------------------------------------------------------------------

    def leave(self) -> None:
        """End the flight: book what happened, and let the cohorts look anew."""
        with self._lock:
            if self.on:
                self.on = False
                self._safely(self._close)

    def _book_late(self, stage: Stage) -> None:
        """The flight ended while the call that was due was running: book the call all the same."""

        def book() -> None:
            self._land(self, [stage.event])
            for sentinel in stage.sentinels:
                with suppress(Gone):
                    sentinel.cohort.snapshot(sentinel.cohort.look())
                    sentinel.replay(stage.event)

        self._safely(book)

    def _safely(self, book: Callable[[], None]) -> None:
        try:
            book()
        except AuditError:
            raise
        except Exception as trouble:
            self._fail(trouble)

    def _close(self) -> None:
        events = [stage.event for stage in self._stages]
        if not self._turns and not self._told:
            self._proven = None  # a loop that never flies far costs less when it is not tried again at once
        self._repeat(events, self._turns)
        self._land(self, events[: self._at])
        sentinels = {id(s): s for stage in self._stages for s in stage.sentinels}.values()
        touched = [sentinel for sentinel in sentinels if sentinel.is_touched()]
        for sentinel in sentinels:
            cohort = sentinel.cohort
            try:
                cohort.snapshot(cohort.look())
            except Gone:
                continue
            cohort.spent, cohort.waiting, cohort.changed_by_step = cohort.held, 0, True
            cohort.sample = None
        for stage in self._stages[: self._at]:
            for sentinel in stage.sentinels:
                sentinel.replay(stage.event)
        for sentinel in touched:
            sentinel.cohort.disown()


def _equal(one: list[ev.Event], other: list[ev.Event]) -> bool:
    return len(one) == len(other) and all(map(is_, one, other))
