"""Booking a cycle at once leaves the same books as posting it event by event."""

from __future__ import annotations

from dataclasses import asdict

from hypothesis import given
from hypothesis import strategies as st

from gradledger.ledger import events as ev
from gradledger.ledger.journal import Journal
from gradledger.ledger.repetition import is_calm, repeat
from gradledger.ledger.site import Site

CLEAR = ev.GradientCleared(Site("train.py", 1), (1, 2), owner=1)
BACKWARD = ev.BackwardRan(Site("train.py", 2), (1, 2))
HALF = ev.BackwardRan(Site("train.py", 3), (2,))
STEP = ev.OptimizerStepped(Site("train.py", 4), (1, 2), 1)

cycles = st.sampled_from(
    [
        (CLEAR, BACKWARD, STEP),
        (CLEAR, BACKWARD, BACKWARD, BACKWARD, STEP),
        (BACKWARD, HALF, STEP, CLEAR),
        (BACKWARD, STEP),
        (CLEAR, BACKWARD, STEP, BACKWARD, STEP),
    ]
)


def opened() -> Journal:
    journal = Journal()
    for number in (1, 2):
        journal.post(ev.AccountOpened(None, number, 3, optimizer=1))
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
        "optimizer": [
            (b.steps, b.cleared, b.sequence.runs, [(t.count, t.first, t.last) for t in b.windows.values()])
            for b in books.optimizers.values()
        ],
    }


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


def test_only_plain_cycles_are_calm() -> None:
    journal = opened()
    journal.post_all((CLEAR, BACKWARD, STEP))
    assert is_calm(journal, (CLEAR, BACKWARD, STEP))
    assert not is_calm(journal, (CLEAR, BACKWARD, ev.GradientsClipped(None, (1, 2)), STEP))
    assert not is_calm(journal, (CLEAR, ev.BackwardRan(None, (1,), scaled_by=3), STEP))
