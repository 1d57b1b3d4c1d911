"""Booking a cycle of events many times at once, for a loop that brings every account back to its state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from gradledger.ledger import events as ev
from gradledger.ledger.books import (
    Balance,
    Books,
    ClearTally,
    ClipBook,
    OptimizerBook,
    PassTally,
    ScalerBook,
    SchedulerBook,
)
from gradledger.ledger.kinds import Kind
from gradledger.ledger.window import Tally

if TYPE_CHECKING:
    from gradledger.ledger.journal import Journal

_NUMBERS: dict[type, tuple[str, ...]] = {
    Books: ("backwards", "steps"),
    Kind: ("count",),
    Balance: ("posted", "fresh", "stale", "cleared_unused", "cleared_used", "backed", "steps"),
    PassTally: ("count",),
    ClearTally: ("calls", "effective"),
    ClipBook: ("calls", "idle", "after_step", "used", "wasted", "straight", "astray", "passes"),
    OptimizerBook: ("steps", "cleared"),
    ScalerBook: ("updates",),
    SchedulerBook: ("early", "since_step", "passes"),
    Tally: ("count", "last"),
}
"""What grows by the same number in every turn."""

_COUNTERS: dict[type, str] = {ClipBook: "others", SchedulerBook: "between_steps"}
"""Counts by kind, each of which does so."""


def is_calm(journal: Journal, events: Sequence[ev.Event]) -> bool:
    """Whether this cycle may be booked at once: plain events with which no rule finds fault."""
    for event in events:
        match event:
            case ev.BackwardRan(reduced=None, repeats=None, kept_graph=False):
                pass
            case ev.GradientCleared(to="none", by="optimizer" | "module"):
                pass
            case ev.GradientsClipped() | ev.SchedulerStepped(explicit=False):
                pass
            case ev.LossScaled() | ev.GradientsUnscaled() | ev.ScalerStepped() | ev.ScalerUpdated():
                pass
            case ev.OptimizerStepped(optimizer=int(), nonfinite=False):
                closing = journal.last_closing(event)
                if closing is None or closing.hits:
                    return False
            case _:
                return False
        if any(edge.hits for edge in journal._learn(event).edges.values()):
            return False
    return True


def repeat(journal: Journal, events: Sequence[ev.Event], times: int) -> None:
    """Book the cycle `times` times; the same books as posting it so often."""
    steps = [event for event in events if isinstance(event, ev.OptimizerStepped)]
    if times < 3 or len(steps) != 1:
        for _ in range(times):
            journal.post_all(events)
        return
    # The first turn may find what an earlier loop left; what the second adds, every later one adds.
    journal.post_all(events)
    states = journal.books.accounts.copy()
    parts = {id(part): part for part in _parts(journal, events)}.values()
    before = [(part, _numbers(part), _counts(part)) for part in parts]
    journal.post_all(events)
    more = times - 2
    if journal.books.accounts != states:
        for _ in range(more):
            journal.post_all(events)
        return
    for part, numbers, counts in before:
        for name, old in numbers.items():
            new = getattr(part, name)
            setattr(part, name, new + more * (new - old))
        for key, new in _counts(part).items():
            getattr(part, _COUNTERS[type(part)])[key] = new + more * (new - counts.get(key, 0))
    closing = journal.last_closing(steps[0])
    assert closing is not None
    journal.books.optimizer(steps[0].optimizer).sequence.add(closing.window, more)


def _parts(journal: Journal, events: Sequence[ev.Event]) -> Iterator[Any]:
    """Every part of the books in which these events count."""
    books = journal.books
    yield books
    yield from books.optimizers.values()
    yield from books.clips.values()
    yield from books.scalers.values()
    yield from books.schedulers.values()
    for event in events:
        kind = journal._learn(event)
        yield kind
        if kind.tally is not None:
            yield kind.tally
        if kind.last is not None:
            yield kind.last.tally
        for number in getattr(event, "accounts", ()):
            yield books.balances[number]


def _numbers(part: Any) -> dict[str, int]:
    return {name: getattr(part, name) for name in _NUMBERS[type(part)]}


def _counts(part: Any) -> dict[Any, int]:
    name = _COUNTERS.get(type(part))
    return {} if name is None else dict(getattr(part, name))
