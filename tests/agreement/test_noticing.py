"""A side that errs is noticed: whatever is silenced, renamed, moved by a line or made up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.agreement.agreeing import Tally, clips_alike, run_agrees, text_is_confirmed
from tests.agreement.loops import Loop
from tests.agreement.mistakes import MISTAKES, RIGHT
from tests.agreement.sides import Findings, arithmetic, audited, checked
from tests.agreement.text import written
from tests.agreement.verdict import Place, Verdict

Change = Callable[[Place], list[Place]]

ERRORS: dict[str, Change] = {
    "silenced": lambda place: [],
    "renamed": lambda place: [("GL103" if place[0] == "GL102" else "GL102", place[1])],
    "a line too far": lambda place: [(place[0], place[1] + 1)],
    "one more": lambda place: [place, ("GL108", place[1])],
}


def sides(loop: Loop, folder: Path) -> tuple[Verdict, Findings, Findings]:
    """What the numbers, the run and the text tell of a loop."""
    text, path = written(loop), folder / "loop.py"
    path.write_text(text, encoding="utf-8")
    verdict = arithmetic(loop, text, path)
    assert verdict is not None
    return verdict, clips_alike(audited(text, path)), clips_alike(checked(text, path))


def erring(found: Findings, change: Change) -> Findings:
    """The findings with an error in each."""
    return replace(found, certain=frozenset(new for place in found.certain for new in change(place)))


@pytest.mark.parametrize("code", MISTAKES)
def test_error_is_noticed(code: str, tmp_path: Path) -> None:
    loop = MISTAKES[code]
    verdict, run, read = sides(loop, tmp_path)
    assert run.codes == {code}
    run_agrees(loop, verdict, run)
    text_is_confirmed(loop, verdict, run, read)
    assert code in {told for told, _ in read.certain | read.possible}
    for error, change in ERRORS.items():
        with pytest.raises(AssertionError):
            run_agrees(loop, verdict, erring(run, change))
        if read.certain and error != "silenced":
            with pytest.raises(AssertionError):
                text_is_confirmed(loop, verdict, run, erring(read, change))


@pytest.mark.parametrize("name", RIGHT)
def test_false_alarm_is_noticed(name: str, tmp_path: Path) -> None:
    loop = RIGHT[name]
    verdict, run, read = sides(loop, tmp_path)
    assert not run.certain
    assert not read.certain
    alarm = Findings(frozenset({("GL101", 20)}), frozenset())
    with pytest.raises(AssertionError):
        run_agrees(loop, verdict, alarm)
    with pytest.raises(AssertionError):
        text_is_confirmed(loop, verdict, run, alarm)


def test_rule_of_which_the_text_says_nothing_is_noticed() -> None:
    tally, silent = Tally(), Findings(frozenset(), frozenset())
    for code in ("GL101", "GL102"):
        verdict = Verdict(frozenset({(code, 9)}), frozenset())
        for _ in range(5):
            told = silent if code == "GL102" else Findings(verdict.wrong, frozenset())
            tally.add_text(MISTAKES[code], verdict, told)
    assert tally.hidden(share=0.6) == {"GL102"}
    assert tally.shown() == 0.5


def test_open_verdicts_are_counted() -> None:
    tally = Tally()
    run = Findings(frozenset({("GL101", 9), ("GL102", 10)}), frozenset())
    tally.add_run(MISTAKES["GL101"], Verdict(frozenset({("GL101", 9)}), frozenset({"GL102"})), run)
    assert tally.decided() == 0.5
