"""One answer for all ranks."""

from __future__ import annotations

from gradledger.audit.answer import Answer, Checked, merge
from gradledger.ledger.record import replace
from gradledger.rules.finding import Certainty, Severity
from tests.samples import answer, finding


def test_an_answer_fails_by_one_finding_that_does() -> None:
    slow = finding(severity=Severity.PERFORMANCE)
    perhaps = finding(certainty=Certainty.POSSIBLE)
    assert not answer(slow, perhaps).fails
    assert answer(slow, finding()).fails


def test_one_answer_stays_as_it_is() -> None:
    only = answer(finding(ranks=(0,)), notes=("a note",))
    assert merge([only]) == only


def test_equal_findings_become_one_that_names_its_ranks() -> None:
    first = replace(finding(ranks=(1,)), count=3, first_step=5)
    second = replace(finding(ranks=(0,)), count=7, first_step=4, message="told otherwise")
    (joined,) = merge([answer(first), answer(second)]).findings
    assert joined == replace(first, ranks=(0, 1), count=7, first_step=4)


def test_a_count_that_nobody_took_stays_unknown() -> None:
    (joined,) = merge([answer(finding(ranks=(0,))), answer(finding(ranks=(1,)))]).findings
    assert (joined.count, joined.first_step) == (None, None)
    counted = replace(finding(ranks=(1,)), count=2, first_step=9)
    (joined,) = merge([answer(finding(ranks=(0,))), answer(counted)]).findings
    assert (joined.count, joined.first_step) == (2, 9)


def test_other_findings_stay_apart_in_the_order_they_came() -> None:
    mine = finding(line=5)
    others = (
        finding(line=6),
        finding(code="GL105"),
        finding("other.py"),
        finding(certainty=Certainty.POSSIBLE),
    )
    assert merge([answer(mine), answer(*others)]).findings == (mine, *others)


def test_what_was_looked_at_is_added_up_but_for_the_model_itself() -> None:
    ranks = [
        Answer("runtime", (), Checked(10, 5, 8, 2, 1), ("slow disk", "rank 0 crashed")),
        Answer("runtime", (), Checked(20, 6, 9, 1, 1, 2), ("slow disk",)),
    ]
    whole = merge(ranks)
    assert whole.checked == Checked(30, 11, 9, 2, 2, 3)
    assert whole.notes == ("slow disk", "rank 0 crashed")
