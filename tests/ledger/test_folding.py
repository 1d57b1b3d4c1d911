"""A program that never repeats itself: what is remembered of it stays small, and the counts stay true."""

from __future__ import annotations

import random

import pytest

from gradledger.audit.auditor import KINDS_AT_ONE_PLACE, Auditor
from gradledger.ledger import events as ev
from gradledger.ledger import folding, journal
from gradledger.ledger.journal import Journal
from gradledger.ledger.site import Site

BACKWARD, STEP, CLEAR = (Site("train.py", line) for line in (8, 9, 7))
ACCOUNTS = tuple(range(1, 13))


@pytest.fixture(autouse=True)
def _forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "KINDS_REMEMBERED", 600)
    monkeypatch.setattr(folding, "WINDOWS_REMEMBERED", 20)


def wild(book: Journal, steps: int, *, clears: bool = True) -> None:
    """Each pass reaches another half of the accounts."""
    choice = random.Random(0)
    book.post(ev.OptimizerBuilt(None, 1, "SGD"))
    for number in ACCOUNTS:
        book.post(ev.AccountOpened(None, number, 1, optimizer=1))
    for _ in range(steps):
        if clears:
            book.post(ev.GradientCleared(CLEAR, ACCOUNTS, owner=1))
        book.post(ev.BackwardRan(BACKWARD, tuple(sorted(choice.sample(ACCOUNTS, 6)))))
        book.post(ev.OptimizerStepped(STEP, ACCOUNTS, 1))


def test_windows_that_differ_only_in_what_a_pass_reached_are_joined() -> None:
    book = Journal()
    wild(book, 2_000)
    windows = book.books.optimizer(1).windows
    assert len(windows) < 620
    assert sum(tally.count for tally in windows.values()) == 2_000
    assert min(tally.first for tally in windows.values()) == 1
    assert max(tally.last for tally in windows.values()) == 2_000
    assert book.books.unbalanced() == []


def test_a_mistake_in_such_a_program_is_counted_at_every_step() -> None:
    auditor = Auditor()
    book = Journal(auditor)
    wild(book, 500, clears=False)
    (finding,) = (found for found in auditor.findings(book.books) if found.code == "GL101")
    assert finding.count == 499
    assert len(auditor._counts) <= 2 * KINDS_AT_ONE_PLACE


def test_a_measured_window_is_kept_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "KINDS_REMEMBERED", 10_000)  # nothing is joined before the test does it
    book = Journal()
    wild(book, 100)
    book.post(ev.GradientCleared(CLEAR, ACCOUNTS, owner=1))
    book.post(ev.BackwardRan(BACKWARD, ACCOUNTS[:5]))
    book.post(ev.LossMeasured(BACKWARD, ACCOUNTS[:5], "mean", 1.0, 8))
    book.post(ev.OptimizerStepped(STEP, ACCOUNTS, 1))
    (measured,) = book.books.optimizer(1).measured
    optimizer = book.books.optimizer(1)
    assert len(optimizer.windows) > 90
    folding.fold(optimizer)
    assert len(optimizer.windows) < 90
    assert optimizer.windows[measured.window].count == 1


def test_windows_that_threw_something_away_are_joined_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folding, "WINDOWS_REMEMBERED", 60)
    book = Journal()
    wild(book, 1)
    choice = random.Random(1)
    for _ in range(200):
        book.post(ev.BackwardRan(BACKWARD, tuple(sorted(choice.sample(ACCOUNTS, 6)))))
        book.post(ev.GradientCleared(CLEAR, ACCOUNTS, owner=1))
        book.post(ev.BackwardRan(BACKWARD, tuple(sorted(choice.sample(ACCOUNTS, 6)))))
        book.post(ev.OptimizerStepped(STEP, ACCOUNTS, 1))
        book.post(ev.GradientCleared(CLEAR, ACCOUNTS, owner=1))
    windows = book.books.optimizer(1).windows
    folding.fold(book.books.optimizer(1))
    assert any(account.lost for window in windows for account in window.accounts)
    assert len(book.books.optimizer(1).windows) <= 60
    assert sum(tally.count for tally in book.books.optimizer(1).windows.values()) == 201
