"""Booking a cycle of events many times at once, for a loop that brings every account back to its state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gradledger.ledger import events as ev
from gradledger.ledger.books import Balance, ClearTally, PassTally

if TYPE_CHECKING:
    from gradledger.ledger.journal import Journal

_SUMS = ("posted", "fresh", "stale", "cleared_unused", "cleared_used", "backed", "steps")


def is_calm(journal: Journal, events: Sequence[ev.Event]) -> bool:
    """Whether this cycle may be booked at once: plain events with which no rule finds fault."""
    for event in events:
        match event:
            case ev.BackwardRan(scaled_by=None, reduced=None, repeats=None, kept_graph=False):
                continue
            case ev.GradientCleared(to="none", by="optimizer" | "module"):
                continue
            case ev.OptimizerStepped(optimizer=int(), scaler=None, nonfinite=False):
                closing = journal.last_closing(event)
                if closing is None or closing.hits:
                    return False
            case _:
                return False
    return True


def repeat(journal: Journal, events: Sequence[ev.Event], times: int) -> None:
    """Book the cycle `times` times; the same books as posting it so often."""
    if times <= 0:
        return
    books = journal.books
    numbers = sorted({n for event in events for n in event.accounts})  # type: ignore[attr-defined]
    states = [books.accounts[number] for number in numbers]
    sums = {number: _sums(books.balances[number]) for number in numbers}
    effective = {id(tally): tally.effective for tally in books.clears.values()}
    cleared = {number: book.cleared for number, book in books.optimizers.items()}
    journal.post_all(events)
    more = times - 1
    one_step = sum(isinstance(event, ev.OptimizerStepped) for event in events) == 1
    returned = all(books.accounts[n] is state for n, state in zip(numbers, states, strict=True))
    if not (one_step and returned):
        for _ in range(more):
            journal.post_all(events)
        return
    for number in numbers:
        balance = books.balances[number]
        for name, before, after in zip(_SUMS, sums[number], _sums(balance), strict=True):
            setattr(balance, name, after + more * (after - before))
    for tally in books.clears.values():
        tally.effective += more * (tally.effective - effective.get(id(tally), 0))
    for number, book in books.optimizers.items():
        book.cleared += more * (book.cleared - cleared.get(number, 0))
    for event in events:
        _count(journal, event, more)


def _sums(balance: Balance) -> tuple[int, ...]:
    return tuple([getattr(balance, name) for name in _SUMS])


def _count(journal: Journal, event: ev.Event, more: int) -> None:
    books = journal.books
    kind = journal._learn(event)
    kind.count += more
    match event:
        case ev.BackwardRan():
            books.backwards += more
            assert isinstance(kind.tally, PassTally)
            kind.tally.count += more
        case ev.GradientCleared():
            assert isinstance(kind.tally, ClearTally)
            kind.tally.calls += more
        case ev.OptimizerStepped():
            book = books.optimizer(event.optimizer)
            books.steps += more
            book.steps += more
            closing = journal.last_closing(event)
            assert closing is not None
            closing.tally.count += more
            closing.tally.last += more
            book.sequence.add(closing.window, more)
            for schedule in journal._schedules.get(event.optimizer or 0, ()):
                schedule.between_steps[schedule.since_step] += more
