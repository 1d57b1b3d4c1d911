"""Level flight: a loop that has repeated itself often enough is checked in outline for a while.

After many identical turns (the same events from the same lines, nothing to report) the probes stop looking
at every gradient. They check that each call comes from the line that is due and that one gradient of each
account is in the state that is due, and only count. Every sixty-fourth turn is audited in full again, and
anything unexpected ends the flight at once: the turns are booked, the unfinished one event by event, and the
probe goes on as usual.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from operator import is_
from types import CodeType, FrameType
from typing import Any

from torch import Tensor

from gradledger.ledger import events as ev
from gradledger.ledger.errors import AuditError
from gradledger.runtime.cohort import KEPT_WHOLE, Cohort, Gone, size

TURNS_BEFORE = 32
TURNS_AT_ONCE = 63
MOST_EVENTS = 80


class Sentinel:
    """The smallest gradient of an account stands for all of them."""

    __slots__ = ("cohort", "grad", "ref", "version")

    def __init__(self, cohort: Cohort) -> None:
        self.cohort = cohort
        self.ref = weakref.ref(min(cohort.params(), key=size))
        self.grad: Tensor | None = None
        self.version = 0

    def note(self) -> None:
        """Remember the gradient as it is."""
        param = self.ref()
        self.grad = None if param is None else param.grad
        self.version = 0 if self.grad is None else self.grad._version


class Stage:
    """One event of the turn: the line it must come from, on whose call, and the accounts it concerns."""

    __slots__ = ("code", "depth", "event", "kind", "lasti", "sentinels", "who")

    def __init__(self, event: ev.Event, place: tuple[CodeType, int], sentinels: list[Sentinel]) -> None:
        self.event = event
        self.kind = type(event)
        self.code, self.lasti = place
        self.sentinels = sentinels
        self.depth = -1
        """How many frames of torch lie between, once that is known."""
        self.who: weakref.ref[Any] | None = None
        """The optimizer, once it is known."""

    def fits(self, frame: FrameType | None) -> bool:
        """Whether this stage's line made the call, directly or through a few frames of torch."""
        if self.depth < 0:
            self.depth = next((n for n, f in enumerate(_above(frame)) if f.f_code is self.code), 8)
        for _ in range(self.depth):
            frame = None if frame is None else frame.f_back
        return frame is not None and frame.f_code is self.code and frame.f_lasti == self.lasti

    def made_by(self, optimizer: Any, number: Callable[[Any], int | None], due: int | None) -> bool:
        """Whether it is the optimizer that is due."""
        if self.who is None:
            if number(optimizer) != due:
                return False
            self.who = weakref.ref(optimizer)
        return self.who() is optimizer


def _above(frame: FrameType | None) -> Iterator[FrameType]:
    for _ in range(8):
        if frame is None:
            return
        yield frame
        frame = frame.f_back


class Cruise:
    """Follows the turns of a loop and decides when to look less closely."""

    def __init__(
        self,
        is_calm: Callable[[Sequence[ev.Event]], bool],
        repeat: Callable[[Sequence[ev.Event], int], None],
        land: Callable[[Sequence[ev.Event]], None],
        places: Callable[[Any], tuple[CodeType, int] | None],
        cohorts: Callable[[], Sequence[Cohort]],
        number: Callable[[Any], int | None],
        fail: Callable[[Exception], None],
    ) -> None:
        self.on = False
        self.allowed = True
        self.turn: list[ev.Event] = []
        """The events since the last step."""
        self._is_calm, self._repeat, self._land = is_calm, repeat, land
        self._places, self._cohorts, self._number = places, cohorts, number
        self._fail = fail
        self._last: list[ev.Event] = []
        self._streak = 0
        self._proven: list[ev.Event] | None = None
        self._stages: list[Stage] = []
        self._at = 0
        self._turns = 0

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
            numbers: Sequence[int] = event.accounts  # type: ignore[attr-defined]
            if place is None or any(number not in sentinels for number in numbers):
                return False
            stages.append(Stage(event, place, [sentinels[number] for number in numbers]))
        self._stages = stages
        return True

    def _take_off(self) -> None:
        for stage in self._stages:
            for sentinel in stage.sentinels:
                sentinel.note()
        self._at = self._turns = 0
        self.on = True

    # -- the stages of a turn ---------------------------------------------------------------------------

    def clears(self, frame: FrameType | None, optimizer: Any = None) -> bool:
        """A zero_grad() has run: was it due, and did it clear?"""
        stage = self._stages[self._at]
        due = getattr(stage.event, "owner", -1)
        fitting = stage.kind is ev.GradientCleared and stage.fits(frame)
        if fitting and due is not None:
            fitting = stage.made_by(optimizer, self._number, due)
        if fitting:
            for sentinel in stage.sentinels:
                param = sentinel.ref()
                if param is None or param.grad is not None:
                    fitting = False
                sentinel.grad = None
        if not fitting:
            self.leave()
            return False
        self._at += 1
        return True

    def begins(self, frame: FrameType | None) -> bool:
        """A backward() is about to run: was it due, and are the gradients as they should be?"""
        stage = self._stages[self._at]
        if stage.kind is ev.BackwardRan and stage.fits(frame):
            return self._untouched(stage)
        self.leave()
        return False

    def ends(self, loader: int | None) -> None:
        """It has run: did it add to the gradients?"""
        stage = self._stages[self._at]
        fitting = stage.event.loader == loader  # type: ignore[attr-defined]
        for sentinel in stage.sentinels:
            param = sentinel.ref()
            grad = None if param is None else param.grad
            version = 0 if grad is None else grad._version
            if grad is None or (grad is sentinel.grad and version == sentinel.version):
                fitting = False
            sentinel.grad, sentinel.version = grad, version
        self._at += 1
        if not fitting:
            self._proven = None
            self.leave()

    def steps(self, frame: FrameType | None, optimizer: Any) -> bool:
        """A step is about to run: was it due, on gradients as backward() left them?"""
        stage = self._stages[self._at]
        if not (
            stage.kind is ev.OptimizerStepped
            and stage.fits(frame)
            and stage.made_by(optimizer, self._number, stage.event.optimizer)  # type: ignore[attr-defined]
        ):
            self.leave()
            return False
        if not self._untouched(stage):
            return False
        self._at += 1
        if self._at == len(self._stages):
            self._at = 0
            self._turns += 1
            if self._turns >= TURNS_AT_ONCE:
                self.leave()
        return True

    def _untouched(self, stage: Stage) -> bool:
        for sentinel in stage.sentinels:
            param = sentinel.ref()
            grad = sentinel.grad
            if (
                param is None
                or param.grad is not grad
                or (grad is not None and grad._version != sentinel.version)
            ):
                self.leave([sentinel])
                return False
        return True

    # -- ending -----------------------------------------------------------------------------------------

    def leave(self, touched: Sequence[Sentinel] = ()) -> None:
        """End the flight: book what happened, and let the cohorts look anew."""
        if not self.on:
            return
        self.on = False
        try:
            self._close(touched)
        except AuditError:
            raise
        except Exception as trouble:
            self._fail(trouble)

    def _close(self, touched: Sequence[Sentinel]) -> None:
        events = [stage.event for stage in self._stages]
        self._repeat(events, self._turns)
        self._land(events[: self._at])
        cohorts = {id(s.cohort): s.cohort for stage in self._stages for s in stage.sentinels}
        for cohort in cohorts.values():
            try:
                cohort.snapshot(cohort.look())
            except Gone:
                continue
            cohort.changed_by_step = not self._at
            cohort.spent = cohort.held
            cohort.waiting = 0
        for stage in self._stages[: self._at]:
            for sentinel in stage.sentinels:
                _replay(sentinel.cohort, stage.event)
        for sentinel in touched:
            sentinel.cohort.disown()


def _replay(cohort: Cohort, event: ev.Event) -> None:
    match event:
        case ev.GradientCleared():
            cohort.spent, cohort.waiting, cohort.changed_by_step = False, 0, False
        case ev.BackwardRan():
            cohort.waiting += 1
        case ev.OptimizerStepped():
            cohort.spent, cohort.waiting, cohort.changed_by_step = cohort.held, 0, True


def _equal(one: list[ev.Event], other: list[ev.Event]) -> bool:
    return len(one) == len(other) and all(map(is_, one, other))
