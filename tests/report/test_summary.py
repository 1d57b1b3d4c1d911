from __future__ import annotations

import pytest

from gradledger.audit.answer import Answer, Checked
from gradledger.report.summary import summary, verdict
from gradledger.rules.finding import Certainty, Severity
from tests.samples import answer, finding

ERROR = finding()
WARNING = finding(severity=Severity.WARNING)
WASTE = finding(severity=Severity.PERFORMANCE)
POSSIBLE = finding(certainty=Certainty.POSSIBLE)


def test_with_one_error() -> None:
    assert (
        summary(answer(ERROR)) == "audited 125 backward passes, 125 steps, 8 parameters in 2 groups: 1 error"
    )


def test_clean() -> None:
    assert (
        summary(answer()) == "audited 125 backward passes, 125 steps, 8 parameters in 2 groups: no findings"
    )


def test_one_of_each_thing() -> None:
    assert summary(answer(checked=Checked(1, 1, 1, 1))) == (
        "audited 1 backward pass, 1 step, 1 parameter in 1 group: no findings"
    )


def test_several_processes() -> None:
    assert summary(answer(checked=Checked(4, 4, 8, 2, processes=2))) == (
        "audited 4 backward passes, 4 steps, 8 parameters in 2 groups, in 2 processes: no findings"
    )


@pytest.mark.parametrize(
    ("found", "text"),
    [
        ((ERROR, ERROR, WARNING, POSSIBLE), "2 errors, 1 warning, 1 possible"),
        ((WARNING, WARNING), "2 warnings"),
        ((WASTE,), "1 performance finding"),
        ((POSSIBLE,) * 20, "20 possible"),
        ((ERROR,) * 10, "10 errors"),
        ((), "no findings"),
    ],
)
def test_kinds(found: tuple, text: str) -> None:
    assert verdict(found) == text


def test_nothing_trained() -> None:
    text = "audited: no training happened (no backward pass, no optimizer step)"
    assert summary(answer(checked=Checked())) == text
    assert summary(answer(ERROR, checked=Checked(parameters=8))) == f"{text}: 1 error"
    assert summary(answer(checked=Checked(backwards=1))).startswith(
        "audited 1 backward pass, 0 steps, 0 parameters:"
    )


def test_static() -> None:
    assert summary(Answer("static", (), Checked(files=3))) == "checked 3 files: no findings"
