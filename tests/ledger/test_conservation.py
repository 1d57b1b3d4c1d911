"""Whatever happens in whatever order: no entry appears or vanishes, and remembering changes nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from gradledger.audit.auditor import Auditor
from gradledger.ledger import account as account_module
from gradledger.ledger import events as ev
from gradledger.ledger import journal as journal_module
from gradledger.ledger.account import MOST, Account
from gradledger.ledger.journal import Journal
from gradledger.ledger.site import Site

LINES = st.integers(1, 4)
OPTIMIZERS = st.integers(1, 2)
SCALERS = st.none() | st.just(1)
SOURCES = st.none() | st.integers(7, 8)


def at(line: int) -> Site:
    return Site("train.py", line)


class Bookkeeping(RuleBasedStateMachine):
    """The same events to journals that remember, that meet every event anew, and that forget."""

    most = MOST

    def __init__(self) -> None:
        super().__init__()
        self.journals = {name: Journal(Auditor()) for name in ("remembers", "meets anew", "forgets")}
        self.known: dict[ev.Event, ev.Event] = {}
        self.numbers: list[int] = []

    def post(self, event: ev.Event) -> None:
        self.journals["remembers"].post(self.known.setdefault(event, event))
        self.journals["meets anew"].post(replace(event))
        journal_module.KINDS_REMEMBERED = 4
        try:
            self.journals["forgets"].post(replace(event))
        finally:
            journal_module.KINDS_REMEMBERED = 50_000

    def some(self, data: st.DataObject) -> tuple[int, ...]:
        return tuple(sorted(data.draw(st.sets(st.sampled_from(self.numbers), min_size=1))))

    def open(self, **facts: Any) -> None:
        number = len(self.numbers) + 1
        self.numbers.append(number)
        self.post(ev.AccountOpened(None, number, 4, **facts))

    @initialize()
    def begin(self) -> None:
        self.open(optimizer=1)
        self.open(optimizer=2)

    @rule(optimizer=st.none() | OPTIMIZERS)
    def open_account(self, optimizer: int | None) -> None:
        if len(self.numbers) < 6:
            self.open(optimizer=optimizer)

    @rule(data=st.data())
    def split_account(self, data: st.DataObject) -> None:
        if len(self.numbers) < 6:
            parent = data.draw(st.sampled_from(self.numbers))
            owner = self.journals["remembers"].books.balances[parent].optimizer
            self.open(parent=parent, optimizer=owner)

    @rule(
        data=st.data(),
        line=LINES,
        scaler=SCALERS,
        loader=SOURCES,
        reduced=st.none() | st.booleans(),
        wants_input=st.booleans(),
        repeats=st.none() | LINES,
        measured=st.booleans(),
        times=st.integers(1, 3),
    )
    def backward(self, data: st.DataObject, line: int, measured: bool, times: int, **facts: Any) -> None:
        accounts = self.some(data)
        repeats = None if facts["repeats"] is None else at(facts["repeats"])
        ran = ev.BackwardRan(
            at(line),
            accounts,
            scaled_by=facts["scaler"],
            reduced=facts["reduced"],
            repeats=repeats,
            wants_input=facts["wants_input"],
            loader=facts["loader"],
        )
        for _ in range(times):
            self.post(ran)
            if measured:
                self.post(ev.LossMeasured(None, accounts, "mean", 0.5, 8))
                self.post(ev.NormMeasured(None, accounts, 2.0, 1.0))

    @rule(
        data=st.data(), line=LINES, optimizer=st.none() | OPTIMIZERS, scaler=SCALERS, windowed=st.booleans()
    )
    def step(
        self, data: st.DataObject, line: int, optimizer: int | None, scaler: int | None, windowed: bool
    ) -> None:
        self.post(ev.OptimizerStepped(at(line), self.some(data), optimizer, scaler, windowed=windowed))

    @rule(data=st.data(), line=LINES, optimizer=OPTIMIZERS)
    def skip(self, data: st.DataObject, line: int, optimizer: int) -> None:
        self.post(ev.StepSkipped(at(line), self.some(data), optimizer, 1))

    @rule(data=st.data(), line=LINES, optimizer=OPTIMIZERS)
    def evaluate_closure(self, data: st.DataObject, line: int, optimizer: int) -> None:
        self.post(ev.ClosureEvaluated(at(line), self.some(data), optimizer))

    @rule(
        data=st.data(),
        line=LINES,
        owner=st.none() | OPTIMIZERS,
        to=st.sampled_from(["none", "zero"]),
        unread=st.booleans(),
    )
    def clear(self, data: st.DataObject, line: int, owner: int | None, to: Any, unread: bool) -> None:
        self.post(ev.GradientCleared(at(line), self.some(data), to=to, owner=owner, unread=unread))

    @rule(data=st.data(), line=LINES)
    def assign(self, data: st.DataObject, line: int) -> None:
        self.post(ev.GradientAssigned(at(line), self.some(data)))

    @rule(data=st.data(), line=LINES, clipping=st.booleans())
    def change(self, data: st.DataObject, line: int, clipping: bool) -> None:
        self.post(ev.GradientChanged(at(line), self.some(data), clipping))

    @rule(data=st.data(), line=LINES, only_measures=st.booleans())
    def clip(self, data: st.DataObject, line: int, only_measures: bool) -> None:
        self.post(ev.GradientsClipped(at(line), self.some(data), only_measures))

    @rule(data=st.data(), line=LINES, optimizer=OPTIMIZERS)
    def unscale(self, data: st.DataObject, line: int, optimizer: int) -> None:
        self.post(ev.GradientsUnscaled(at(line), self.some(data), 1, optimizer))

    @rule(data=st.data(), line=LINES)
    def reduce(self, data: st.DataObject, line: int) -> None:
        self.post(ev.GradientsReduced(at(line), self.some(data)))

    @rule(source=st.integers(7, 8))
    def end_epoch(self, source: int) -> None:
        self.post(ev.EpochEnded(None, source))

    @rule(line=LINES, optimizer=OPTIMIZERS, event=st.sampled_from(["built", "advance", "scaler", "update"]))
    def surround(self, line: int, optimizer: int, event: str) -> None:
        match event:
            case "built":
                self.post(ev.SchedulerBuilt(at(line), optimizer, optimizer, "StepLR"))
            case "advance":
                self.post(ev.SchedulerStepped(at(line), optimizer, optimizer))
            case "scaler":
                self.post(ev.ScalerStepped(at(line), 1, optimizer))
            case "update":
                self.post(ev.ScalerUpdated(at(line), 1))

    @rule(
        data=st.data(),
        line=LINES,
        reason=st.sampled_from(["already-stepped", "never-scaled", "no-gradients"]),
    )
    def refuse(self, data: st.DataObject, line: int, reason: Any) -> None:
        self.post(ev.StepRefused(at(line), self.some(data), 1, 1, reason))

    @rule(data=st.data(), optimizer=OPTIMIZERS, complete=st.booleans())
    def end(self, data: st.DataObject, optimizer: int, complete: bool) -> None:
        self.post(ev.ParametersOrphaned(None, self.some(data), optimizer))
        self.post(ev.RunEnded(None, complete))

    @invariant()
    def nothing_appears_or_vanishes(self) -> None:
        for journal in self.journals.values():
            assert journal.books.unbalanced() == []

    @invariant()
    def states_and_balances_agree(self) -> None:
        books = self.journals["remembers"].books
        for number, state in books.accounts.items():
            waiting = books.balances[number].fresh
            if any(run.count >= self.most for run in state.fresh):
                assert state.waiting <= waiting
            else:
                assert state.waiting == waiting

    @invariant()
    def remembering_changes_nothing(self) -> None:
        first, *others = (journal.books for journal in self.journals.values())
        for books in others:
            assert books.accounts == first.accounts
            assert books.balances == first.balances
            assert books.optimizers == first.optimizers
            assert books.clips == first.clips
            assert books.schedulers == first.schedulers

    def teardown(self) -> None:
        """The rules can read any history, and read the same out of each journal."""
        first, *others = (j.judge.findings(j.books) for j in self.journals.values())  # type: ignore[attr-defined]
        for findings in others:
            assert [(f.code, f.site, f.count) for f in findings] == [(f.code, f.site, f.count) for f in first]
        assert all(f.message and f.remedy and f.detail for f in first)


TestConservation = Bookkeeping.TestCase
TestConservation.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)


class ShortOfNumbers(Bookkeeping):
    """The same where accounts cannot count beyond three."""

    most = 3


class TestConservationBeyondTheLimit(ShortOfNumbers.TestCase):  # type: ignore[name-defined, misc]
    settings = settings(max_examples=30, stateful_step_count=40, deadline=None)

    @pytest.fixture(autouse=True)
    def limit(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(account_module, "MOST", 3)


def test_the_empty_account_is_where_everything_begins() -> None:
    journal = Journal()
    journal.post(ev.AccountOpened(None, 1, 1))
    assert journal.books.accounts == {1: Account()}
