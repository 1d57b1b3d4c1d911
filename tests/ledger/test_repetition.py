"""Booking a cycle at once leaves the same books as posting it event by event."""

from __future__ import annotations

from dataclasses import asdict

from hypothesis import given
from hypothesis import strategies as st

from gradledger.ledger import events as ev
from gradledger.ledger.journal import Entry, Hit, Journal, Judge, Silent
from gradledger.ledger.repetition import is_calm, repeat
from gradledger.ledger.site import Site
from tests.samples import steady

CLEAR = ev.GradientCleared(Site("train.py", 1), (1, 2), owner=1)
BACKWARD = ev.BackwardRan(Site("train.py", 2), (1, 2))
HALF = ev.BackwardRan(Site("train.py", 3), (2,))
STEP = ev.OptimizerStepped(Site("train.py", 4), (1, 2), 1)
CLIP = ev.GradientsClipped(Site("train.py", 5), (1, 2))
CLIP_OTHER = ev.GradientsClipped(Site("train.py", 6), (3,))
SCHEDULE = ev.SchedulerStepped(Site("train.py", 7), 7, 1)
SCHEDULE_OTHER = ev.SchedulerStepped(Site("train.py", 8), 8, 2)
SCALE = ev.LossScaled(Site("train.py", 9), 9)
SCALED = ev.BackwardRan(Site("train.py", 10), (1, 2), scaled_by=9)
UNSCALE = ev.GradientsUnscaled(Site("train.py", 11), (1, 2), 9, 1)
SCALER_STEP = ev.ScalerStepped(Site("train.py", 12), 9, 1)
THROUGH_SCALER = ev.OptimizerStepped(Site("train.py", 12), (1, 2), 1, scaler=9)
UPDATE = ev.ScalerUpdated(Site("train.py", 13), 9)

cycles = st.sampled_from(
    [
        (CLEAR, BACKWARD, STEP),
        (CLEAR, BACKWARD, BACKWARD, BACKWARD, STEP),
        (BACKWARD, HALF, STEP, CLEAR),
        (BACKWARD, STEP),
        (CLEAR, BACKWARD, STEP, BACKWARD, STEP),
        (CLEAR, BACKWARD, CLIP, STEP),
        (CLEAR, BACKWARD, CLIP, CLIP_OTHER, STEP),
        (CLIP, CLEAR, BACKWARD, STEP),
        (SCHEDULE, CLEAR, BACKWARD, STEP),
        (SCHEDULE, SCHEDULE_OTHER, CLEAR, BACKWARD, SCHEDULE, STEP),
        (UPDATE, SCHEDULE, CLEAR, SCALE, SCALED, UNSCALE, CLIP, SCALER_STEP, THROUGH_SCALER),
    ]
)


def opened(judge: Judge | None = None) -> Journal:
    journal = Journal(judge)
    for number, optimizer in ((1, 1), (2, 1), (3, 2)):
        journal.post(ev.AccountOpened(None, number, 3, optimizer=optimizer))
    journal.post(ev.ScalerBuilt(None, 9))
    for scheduler, optimizer in ((7, 1), (8, 2)):
        journal.post(ev.SchedulerBuilt(None, scheduler, optimizer, "StepLR"))
    return journal


def told(journal: Journal) -> dict[str, object]:
    books = journal.books
    return {
        "balances": {
            n: {k: v for k, v in asdict(b).items() if k != "passes"} for n, b in books.balances.items()
        },
        "totals": (books.backwards, books.steps),
        "clears": {site: (t.calls, t.effective) for site, t in books.clears.items()},
        "passes": {site: t.count for site, t in books.passes.items()},
        "around": (books.clips, books.scalers, books.schedulers),
        "kinds": {event: kind.count for event, kind in journal._equal.items()},
        "optimizer": [
            (b.steps, b.cleared, b.sequence.runs, [(t.count, t.first, t.last) for t in b.windows.values()])
            for b in books.optimizers.values()
        ],
    }


@steady
@given(cycle=cycles, before=st.integers(1, 4), times=st.integers(0, 20))
def test_the_books_are_the_same(cycle: tuple[ev.Event, ...], before: int, times: int) -> None:
    one_by_one, at_once = opened(), opened()
    for _ in range(before + times):
        one_by_one.post_all(cycle)
    for _ in range(before):
        at_once.post_all(cycle)
    repeat(at_once, cycle, times)
    assert told(at_once) == told(one_by_one)
    assert not at_once.books.unbalanced()


def test_a_cycle_that_never_comes_back_to_where_it_was() -> None:
    """Account 2 is filled and never stepped."""
    cycle = (BACKWARD, ev.OptimizerStepped(Site("train.py", 4), (1,), 1))
    one_by_one, at_once = opened(), opened()
    for _ in range(7):
        one_by_one.post_all(cycle)
    repeat(at_once, cycle, 7)
    assert told(at_once) == told(one_by_one)


def test_only_plain_cycles_are_calm() -> None:
    journal = opened()
    journal.post_all((CLEAR, BACKWARD, STEP))
    assert is_calm(journal, (CLEAR, BACKWARD, STEP))
    assert is_calm(journal, (SCHEDULE, UPDATE, CLEAR, SCALE, SCALED, UNSCALE, CLIP, SCALER_STEP, STEP))
    assert not is_calm(journal, (CLEAR, ev.BackwardRan(None, (1,), reduced=True), STEP))
    assert not is_calm(journal, (CLEAR, BACKWARD, ev.OptimizerStepped(Site("train.py", 99), (1, 2), 1)))
    assert not is_calm(journal, (CLEAR, BACKWARD, ev.StepSkipped(None, (1, 2), 1, 9), STEP))
    assert not is_calm(journal, (CLEAR, BACKWARD, ev.SchedulerStepped(None, 7, 1, explicit=True), STEP))


class Objecting(Silent):
    """Finds fault with every clipping."""

    def on_entry(self, entry: Entry) -> tuple[Hit, ...]:
        return (self,) if isinstance(entry.event, ev.GradientsClipped) else ()

    def hit(self, step: int, balance: object) -> None:
        """Count nothing."""


def test_a_cycle_with_a_fault_in_it_is_not_calm() -> None:
    journal = opened(Objecting())
    journal.post_all((CLEAR, BACKWARD, CLIP, STEP))
    assert not is_calm(journal, (CLEAR, BACKWARD, CLIP, STEP))
    assert is_calm(journal, (CLEAR, BACKWARD, STEP))
