"""Whole user scripts, read and not run: correct ones are left in peace, most mistakes named at their line."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from gradledger.checking.program import Judged, check_program
from gradledger.rules.finding import Certainty

CORPUS = Path(__file__).parent.parent / "corpus"
BAD = sorted((CORPUS / "bad").glob("*.py"))
GOOD = sorted((CORPUS / "good").glob("*.py"))

LEAST_FOUND = 170
"""So many of the 207 wrong scripts are found with certainty; the number may only grow."""

MOST_SUSPECTED = 3
"""So many correct scripts, at most, have a possible finding; the number may only fall."""


@cache
def judged(script: Path) -> Judged:
    return check_program(script.read_text(encoding="utf-8"), script.name)


def certain(script: Path) -> set[tuple[str, int]]:
    return {(f.code, f.site.line) for f in judged(script).findings if f.certainty is Certainty.CERTAIN}


def expected(script: Path) -> set[tuple[str, int]]:
    """The codes that are right at the lines that say `# expect: GL101|GL102`."""
    lines = enumerate(script.read_text(encoding="utf-8").splitlines(), 1)
    marks = ((number, re.search(r"# expect: ([GL\d|]+)", line)) for number, line in lines)
    return {(code, number) for number, mark in marks if mark for code in mark[1].split("|")}


@pytest.mark.parametrize("script", GOOD, ids=lambda script: script.stem)
def test_nothing_is_certain_in_a_correct_script(script: Path) -> None:
    assert certain(script) == set()
    assert judged(script).notes == ()


@pytest.mark.parametrize("script", BAD, ids=lambda script: script.stem)
def test_what_is_certain_in_a_wrong_script_is_the_planted_mistake(script: Path) -> None:
    assert certain(script) <= expected(script)
    assert judged(script).notes == ()


def test_most_mistakes_are_found_with_certainty() -> None:
    found = [script.stem for script in BAD if certain(script) & expected(script)]
    assert len(found) >= LEAST_FOUND, sorted({script.stem for script in BAD} - set(found))


def test_few_correct_scripts_are_suspected() -> None:
    suspected = [script.stem for script in GOOD if judged(script).findings]
    assert len(suspected) <= MOST_SUSPECTED, suspected
