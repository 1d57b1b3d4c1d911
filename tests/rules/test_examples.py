"""The examples that `gradledger explain` shows are true: run under audit, they give what they claim."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradledger.rules.catalogue import catalogue
from gradledger.rules.example import marked_line, program
from gradledger.rules.rule import Rule
from tests.forked import Audit, audit

RULES = [pytest.param(rule, id=rule.code) for rule in catalogue()]


def audited(folder: Path, text: str) -> Audit:
    script = folder / "example.py"
    script.write_text(program(text), encoding="utf-8")
    return audit(script)


@pytest.mark.parametrize("rule", RULES)
def test_the_bad_example_yields_its_own_code_and_no_other(rule: Rule, tmp_path: Path) -> None:
    done = audited(tmp_path, rule.bad)
    assert done.codes() == [(rule.code, marked_line(rule.bad))], (done.answer["findings"], done.stderr)
    (finding,) = (f for f in done.answer["findings"] if f["certainty"] == "certain")
    assert (finding["name"], finding["severity"]) == (rule.name, rule.severity.value)
    assert done.answer["notes"] == []


@pytest.mark.parametrize("rule", RULES)
def test_the_good_example_yields_nothing(rule: Rule, tmp_path: Path) -> None:
    done = audited(tmp_path, rule.good)
    assert (done.answer["findings"], done.status) == ([], 0), done.stderr
    assert done.answer["checked"]["steps"]
    assert done.answer["notes"] == []
