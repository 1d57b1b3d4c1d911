"""A repair is offered only where the repaired text is proven clean of the finding and of any new one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from gradledger.checking import program, verified
from gradledger.checking.program import Judged, ProgramError
from gradledger.ledger.site import Site
from gradledger.repair.apply import applied
from gradledger.repair.program import read
from gradledger.repair.propose import repairers
from gradledger.rules.catalogue import catalogue
from gradledger.rules.example import program as whole
from gradledger.rules.finding import Certainty, Finding
from gradledger.rules.rule import Rule
from tests.repair.made import PATH, finding

TEXT = "for x in d:\n    f(x).backward()\n    opt.step()\n    other()\n"
STALE = finding("GL101", TEXT, "f(x).backward()", "opt.step()")
OTHER = finding("GL105", TEXT, "other()", "opt.step()")
CLEARED_FIRST = TEXT.replace("    f(x)", "    opt.zero_grad()\n    f(x)")
CLEARED_LAST = TEXT.replace("opt.step()\n", "opt.step()\n    opt.zero_grad()\n")
RULES = [pytest.param(rule, id=rule.code) for rule in catalogue() if repairers(rule.code)]


def at(given: Finding, line: int) -> Finding:
    return replace(given, site=Site(given.site.path, line))


@pytest.fixture
def judging(monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, list[Finding]]], list[str]]:
    """Let the checker say what the test wants, by text; the texts it was asked about come back."""

    def arrange(answers: dict[str, list[Finding]]) -> list[str]:
        asked: list[str] = []

        def check(text: str, path: str, find_module: object = None) -> Judged:
            asked.append(text)
            if text not in answers:
                raise ProgramError(1, "no program")
            return Judged(tuple(answers[text]))

        monkeypatch.setattr(program, "check_program", check)
        return asked

    return arrange


def fix_of(*findings: Finding) -> str | None:
    """The text after the first finding's repair."""
    judged = verified.with_fixes(TEXT, PATH, Judged(findings, ("a note",)))
    assert judged.notes == ("a note",)
    fix = judged.findings[0].fix
    return None if fix is None else applied(TEXT, fix.edits)


def test_the_first_repair_that_holds_is_taken(judging) -> None:
    judging({CLEARED_FIRST: [], CLEARED_LAST: []})
    assert fix_of(STALE) == CLEARED_FIRST


def test_a_repair_that_leaves_the_finding_is_passed_over(judging) -> None:
    judging({CLEARED_FIRST: [at(STALE, 3)], CLEARED_LAST: []})
    assert fix_of(STALE) == CLEARED_LAST


def test_a_repair_that_brings_another_finding_is_passed_over(judging) -> None:
    judging({CLEARED_FIRST: [at(OTHER, 5)], CLEARED_LAST: []})
    assert fix_of(STALE) == CLEARED_LAST


def test_a_possible_finding_counts_as_new_too(judging) -> None:
    possible = replace(at(OTHER, 5), certainty=Certainty.POSSIBLE)
    judging({CLEARED_FIRST: [possible], CLEARED_LAST: [possible]})
    assert fix_of(STALE) is None


def test_a_text_that_is_no_program_any_more_is_passed_over(judging) -> None:
    judging({CLEARED_LAST: []})
    assert fix_of(STALE) == CLEARED_LAST


def test_findings_that_were_there_before_may_stay_on_their_shifted_lines(judging) -> None:
    judging({CLEARED_FIRST: [at(OTHER, 5)], CLEARED_LAST: [at(OTHER, 5)]})
    assert fix_of(STALE, OTHER) == CLEARED_FIRST


def test_a_known_finding_stands_for_one_only(judging) -> None:
    judging({CLEARED_FIRST: [at(OTHER, 5), at(OTHER, 5)], CLEARED_LAST: []})
    assert fix_of(STALE, OTHER) == CLEARED_LAST


def test_a_known_finding_must_not_become_certain(judging) -> None:
    doubtful = replace(OTHER, certainty=Certainty.POSSIBLE)
    judging({CLEARED_FIRST: [at(OTHER, 5)], CLEARED_LAST: [at(doubtful, 5)]})
    assert fix_of(STALE, doubtful) == CLEARED_LAST


def test_a_finding_in_another_file_gets_no_repair(judging) -> None:
    asked = judging({CLEARED_FIRST: [], CLEARED_LAST: []})
    assert fix_of(replace(STALE, site=replace(STALE.site, path="helper.py"))) is None
    assert asked == []


def test_fixing_goes_on_until_nothing_can_be_repaired(judging) -> None:
    judging({TEXT: [STALE, at(OTHER, 4)], CLEARED_FIRST: [at(OTHER, 5)], CLEARED_LAST: [at(OTHER, 5)]})
    assert verified.fixed(TEXT, PATH) == (CLEARED_FIRST, 1)
    assert verified.fixed(CLEARED_FIRST, PATH) == (CLEARED_FIRST, 0)


def test_only_what_is_wanted_is_repaired(judging) -> None:
    doubtful = replace(STALE, certainty=Certainty.POSSIBLE)
    judging({TEXT: [doubtful], CLEARED_FIRST: [], CLEARED_LAST: []})
    assert verified.fixed(TEXT, PATH) == (TEXT, 0)
    assert verified.fixed(TEXT, PATH, wanted=lambda text, given: True) == (CLEARED_FIRST, 1)


@pytest.mark.parametrize("rule", RULES)
def test_each_rules_example_is_repaired_for_good(rule: Rule) -> None:
    text = whole(rule.bad)
    before = program.check_program(text, PATH)
    if rule.code not in [given.code for given in before.findings]:
        pytest.skip("the checker does not see this example")
    after, count = verified.fixed(text, PATH)
    assert count
    assert read(after) is not None
    assert program.check_program(after, PATH).findings == ()
    assert verified.fixed(after, PATH) == (after, 0)
