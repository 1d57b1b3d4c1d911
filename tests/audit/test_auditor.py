"""From statements to findings: joined at one place, the most specific explanation, numbers of the whole."""

from __future__ import annotations

import pytest

from gradledger.audit.auditor import Auditor
from gradledger.ledger import events as ev
from gradledger.ledger.journal import Journal
from gradledger.rules.finding import Certainty, Finding
from tests.ledger_script import Script, at


def test_statements_at_one_line_are_joined_before_the_numbers_are_told() -> None:
    script = Script()
    script.backward(3).step(5)
    for _ in range(3):
        script.backward(3).step(5)
        script.backward(3).backward(3).step(5)  # another kind of window, the same mistake
    finding = script.end().only("GL101", 3)
    assert (finding.count, finding.first_step) == (6, 2)
    assert finding.detail == (
        "6 of 7 steps; at the last one 8 of the 10 micro-batches inside each gradient were old"
    )


def test_a_step_counts_once_however_many_accounts_it_has() -> None:
    script = Script().open(2, optimizer=1)
    for number in range(4):
        script.backward(3, *((1, 2) if number else (1,))).step(4, 1, 2)
    assert script.end().only("GL101", 3).count == 3


def test_a_step_without_any_account_counts_too() -> None:
    script = Script(opened=False).optimizer(1)
    for _ in range(3):
        script.post(ev.OptimizerStepped(at(4), (), 1, nonfinite=True))
    (finding,) = (f for f in script.end().findings if f.code == "GL306")
    assert (finding.count, finding.detail) == (3, "all 3 steps, first at step 1")


def test_the_same_line_of_two_optimizers_counts_the_steps_of_both() -> None:
    script = Script().optimizer(2, 2).open(2, optimizer=2)
    for _ in range(4):
        script.clear(2, 1, 2).backward(3, 1, 2)
        for number in (1, 2):
            script.step(5, number, optimizer=number).step(6, number, optimizer=number)
    finding = script.end().only("GL105", 6)
    assert (finding.count, finding.detail) == (8, "8 of 16 steps")


def test_one_optimizers_explanation_does_not_silence_anothers_mistake() -> None:
    script = Script().optimizer(2, 2).open(2, optimizer=2)
    for _ in range(4):
        script.backward(3, 1).clear(4, 1).step(5, 1)
        script.step(6, 2, optimizer=2)
    assert script.end().certain == [("GL102", 4), ("GL106", 6)]


def test_the_place_itself_is_not_among_the_related_lines() -> None:
    script = Script()
    for _ in range(3):
        script.clear(2).backward(3).step(4).step(4)
    assert script.end().only("GL105", 4).related == ()


def test_findings_come_in_the_order_of_the_source() -> None:
    script = Script()
    for _ in range(3):
        script.post(ev.GraphKept(at(9), "total", 4)).backward(3).step(4)
    assert script.end().certain == [("GL101", 3), ("GL107", 9)]


def test_a_mistake_without_a_line_cannot_be_shown() -> None:
    journal = Journal(auditor := Auditor())
    journal.post(ev.AccountOpened(None, 1, 1, optimizer=1))
    for _ in range(3):
        journal.post(ev.BackwardRan(None, (1,)))
        journal.post(ev.OptimizerStepped(None, (1,), 1))
    assert auditor.findings(journal.books) == ()


def test_what_is_only_slow_raises_no_alarm() -> None:
    raised: list[Finding] = []
    journal = Journal(auditor := Auditor(alarm=raised.append))
    journal.post(ev.OptimizerBuilt(at(1), 1, "SGD"))
    journal.post(ev.AccountOpened(None, 1, 1, optimizer=1))
    for _ in range(4):
        journal.post_all([ev.BackwardRan(at(3), (1,), reduced=True, loader=7)] * 2)
        journal.post(ev.OptimizerStepped(at(4), (1,), 1, windowed=True))
        journal.post(ev.GradientCleared(at(5), (1,), owner=1))
    assert [finding.code for finding in auditor.findings(journal.books)] == ["GL501"]
    assert raised == []


def test_asking_changes_nothing() -> None:
    script = Script()
    for _ in range(3):
        script.backward(3).step(4)
    before = dict(script.books.optimizers)
    assert script.findings == script.findings
    assert script.books.optimizers == before


def test_the_alarm_is_raised_at_the_first_certain_error() -> None:
    class Stopped(Exception):
        pass

    def alarm(finding: Finding) -> None:
        assert finding.certainty is Certainty.CERTAIN
        raise Stopped(finding.code)

    journal = Journal(Auditor(alarm=alarm))
    journal.post(ev.AccountOpened(None, 1, 1, optimizer=1))
    journal.post(ev.BackwardRan(at(3), (1,)))
    journal.post(ev.OptimizerStepped(at(4), (1,), 1))
    journal.post(ev.BackwardRan(at(3), (1,)))
    with pytest.raises(Stopped, match="GL101"):
        journal.post(ev.OptimizerStepped(at(4), (1,), 1))
