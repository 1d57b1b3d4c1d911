"""What the books note of events that move no account."""

from __future__ import annotations

import pytest

from gradledger.ledger import bookkeeping as module
from gradledger.ledger import events as ev
from tests.ledger_script import Script, at


def test_an_optimizer_takes_over_parameters_that_nobody_held() -> None:
    books = Script().open(2).post(ev.AccountTaken(at(2), (2,), 5)).books
    assert [balance.optimizer for balance in books.balances.values()] == [1, 5]
    assert [number for number, _ in books.held_by(5)] == [2]


def test_a_model_that_is_found_later_owns_its_parameters() -> None:
    script = Script().open(2, names=("old",))
    script.post(ev.ParametersOwned(None, (1,), 3, training=True, names=("w", "b")))
    script.post(ev.ParametersOwned(None, (2,), 4, training=False))
    one, other = script.books.balances.values()
    assert (one.module, one.training, one.names) == (3, True, ("w", "b"))
    assert (other.module, other.training, other.names) == (4, False, ("old",))


def test_parameters_that_the_program_moved_are_known_as_such() -> None:
    books = Script().open(2).backward(3, 1, 2).post(ev.ParametersMoved(at(4), (1,))).books
    assert [balance.moved for balance in books.balances.values()] == [True, False]
    assert [account.served for account in books.accounts.values()] == [True, False]


def test_measured_losses_are_kept_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 3)
    script = Script()
    for number in range(5):
        script.backward(3).loss(1.0, number)
    assert [loss.count for loss in script.books.balances[1].losses] == [0, 1, 2]


def test_a_norm_belongs_to_the_step_that_comes_next() -> None:
    script = Script().open(2).backward(3, 1, 2).step(4, 1).backward(3, 1, 2)
    books = script.post(ev.NormMeasured(None, (1, 2), 2.0, 1.5)).books
    assert [(b.inside_norm, b.alone_norm, b.norm_step) for b in books.balances.values()] == [
        (2.0, 1.5, 2),
        (2.0, 1.5, 1),
    ]
