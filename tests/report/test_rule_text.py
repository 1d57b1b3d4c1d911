from __future__ import annotations

import inspect
from types import SimpleNamespace
from typing import cast

import pytest

from gradledger.report.cells import cells
from gradledger.report.rule_text import rule_text, rules_table
from gradledger.report.style import StreamFacts
from gradledger.rules.catalogue import catalogue
from gradledger.rules.finding import Severity
from gradledger.rules.rule import HEADINGS, Rule

RULES = catalogue()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_an_explanation_has_every_part(rule: Rule) -> None:
    text = rule_text(rule, StreamFacts())
    lines = text.splitlines()
    assert lines[0] == f"{rule.code} {rule.name}  {rule.severity.value}"
    for heading in (*HEADINGS, "Wrong", "Right"):
        assert heading in lines
    assert f"◄ {rule.code} is reported here" in text
    assert "# <- here" not in text
    assert f"allow[{rule.name}]" in text
    words = (inspect.getdoc(type(rule)) or "").partition("\n")[2].split()
    assert " ".join(words) in " ".join(text.split())


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_an_explanation_fits(rule: Rule, width: int) -> None:
    for unicode in (True, False):
        text = rule_text(rule, StreamFacts(width=width, unicode=unicode))
        assert max(map(cells, text.splitlines())) <= width
        assert unicode or text.isascii()


@pytest.mark.parametrize("width", [60, 80, 100, 120])
def test_the_table_fits_and_has_every_rule(width: int) -> None:
    wide = SimpleNamespace(
        code="GL999",
        name="a-rule-with-a-very-very-long-name",
        severity=Severity.PERFORMANCE,
        static="only where it is certain",
        runtime="no",
        summary="a summary that does not end before the line does, whatever the terminal's width may be " * 2,
    )
    rules = (*RULES, cast(Rule, wide))
    text = rules_table(rules, StreamFacts(width=width))
    assert max(map(cells, text.splitlines())) <= width
    for rule in rules:
        assert f"{rule.code}  {rule.name}" in text
        assert " ".join(rule.summary.split()) in " ".join(text.split())
    assert "partly" in text
