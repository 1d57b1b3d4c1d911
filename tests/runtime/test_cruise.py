"""A loop in steady state is looked at less closely, and nothing of it is lost."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

import gradledger
from gradledger.rules.finding import Finding

STEPS = 400


class Loop:
    """A plain training loop with a place for a single odd turn."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        self.x, self.y = torch.randn(8, 4), torch.randn(8, 1)

    def run(self, steps: int, odd: Callable[[int, str], None] = lambda step, where: None) -> None:
        for step in range(steps):
            odd(step, "start")
            self.optimizer.zero_grad()
            odd(step, "cleared")
            loss = (self.model(self.x) - self.y).square().mean()
            loss.backward()
            odd(step, "posted")
            self.optimizer.step()


def audited(
    odd: Callable[[Loop, int, str], None] | None = None,
) -> tuple[tuple[Finding, ...], gradledger.watching.Ledger, Loop]:
    loop = Loop()
    with gradledger.watch() as ledger:
        loop.run(STEPS, (lambda step, where: odd(loop, step, where)) if odd else lambda step, where: None)
    return ledger.findings, ledger, loop


def test_every_turn_is_counted() -> None:
    findings, ledger, _ = audited()
    books = ledger._session.journal.books
    assert not findings
    assert (books.backwards, books.steps) == (STEPS, STEPS)
    (balance,) = books.balances.values()
    assert (balance.posted, balance.cleared_used, balance.stale) == (STEPS, STEPS - 1, 1)
    assert not books.unbalanced()


def test_it_did_fly() -> None:
    loop = Loop()
    with gradledger.watch() as ledger:
        loop.run(60)
        assert ledger._session.probes.observer.cruise.on
        sheet = ledger.balance(next(loop.model.parameters()))
        assert not ledger._session.probes.observer.cruise.on
    assert (sheet.state, sheet.stale, sheet.fresh) == ("held", 1, 0)


def test_the_weights_are_the_same() -> None:
    plain = Loop()
    plain.run(STEPS)
    _, _, watched = audited()
    for p, q in zip(plain.model.parameters(), watched.model.parameters(), strict=True):
        assert torch.equal(p, q)


@pytest.mark.parametrize("step", [70, 71, 133, 260])
def test_a_second_step_in_one_turn_is_found(step: int) -> None:
    def odd(loop: Loop, at: int, where: str) -> None:
        if at == step and where == "start":
            loop.optimizer.step()

    findings, ledger, _ = audited(odd)
    assert [(f.code, f.count) for f in findings] == [("GL105", 1)]
    assert ledger._session.journal.books.steps == STEPS + 1


@pytest.mark.parametrize("step", [70, 133])
def test_a_clearing_by_hand_before_the_step_is_booked(step: int) -> None:
    def odd(loop: Loop, at: int, where: str) -> None:
        if at == step and where == "posted":
            for p in loop.model.parameters():
                p.grad = None

    _, ledger, _ = audited(odd)
    (balance,) = ledger._session.journal.books.balances.values()
    assert balance.cleared_unused == 1


def test_a_loss_that_is_not_finite_is_noticed_at_once() -> None:
    def odd(loop: Loop, at: int, where: str) -> None:
        if at == 200 and where == "start":
            loop.y[0, 0] = float("inf")

    findings, _, _ = audited(odd)
    assert [f.code for f in findings] == ["GL306"]
    assert findings[0].first_step == 201


def test_an_exception_in_backward_ends_the_flight() -> None:
    loop = Loop()

    def odd(step: int, where: str) -> None:
        if step == 100 and where == "cleared":
            loop.model[0].weight.register_hook(lambda grad: 1 / 0)

    with gradledger.watch() as ledger, pytest.raises(ZeroDivisionError):
        loop.run(STEPS, odd)
    assert ledger._session.journal.books.steps == 100
