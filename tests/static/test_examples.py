"""The rules' own examples, read and not run: the mistake stands at its line, the right version is clean."""

from __future__ import annotations

import pytest

from gradledger.checking.program import check_program
from gradledger.rules.catalogue import catalogue
from gradledger.rules.example import marked_line, program
from gradledger.rules.finding import Certainty
from gradledger.rules.rule import Rule
from tests.static.project import places

NOT_FOUND = {}
"""Codes whose bad example the checker does not find, and why."""

STATIC = [rule for rule in catalogue() if rule.static != "no"]


def rules(known: dict[str, str]) -> list[object]:
    return [
        pytest.param(
            rule,
            id=rule.code,
            marks=[pytest.mark.xfail(strict=True, reason=known[rule.code])] if rule.code in known else [],
        )
        for rule in STATIC
    ]


@pytest.mark.parametrize("rule", rules(NOT_FOUND))
def test_the_bad_example_is_found_at_its_line_and_nothing_else(rule: Rule) -> None:
    judged = check_program(program(rule.bad), "example.py")
    assert places(judged, Certainty.CERTAIN) == [(rule.code, "example.py", marked_line(rule.bad))]
    (finding,) = (f for f in judged.findings if f.certainty is Certainty.CERTAIN)
    assert (finding.name, finding.severity) == (rule.name, rule.severity)
    assert finding.message
    assert judged.notes == ()


@pytest.mark.parametrize("rule", rules({}))
def test_the_good_example_is_clean(rule: Rule) -> None:
    judged = check_program(program(rule.good), "example.py")
    assert (judged.findings, judged.notes) == ((), ())


@pytest.mark.parametrize("rule", [rule for rule in catalogue() if rule.static == "no"], ids=lambda r: r.code)
def test_a_rule_for_running_programs_alone_says_nothing_here(rule: Rule) -> None:
    judged = check_program(program(rule.bad), "example.py")
    assert rule.code not in {finding.code for finding in judged.findings}
