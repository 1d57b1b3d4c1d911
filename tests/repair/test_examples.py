"""Every rule's own bad example is repaired, and the repaired program runs in silence."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from gradledger.repair.propose import repairers
from gradledger.rules.catalogue import catalogue
from gradledger.rules.example import program
from gradledger.rules.finding import Finding
from gradledger.rules.rule import Rule
from tests.forked import audit
from tests.repair.audited import findings
from tests.repair.made import blurred, repaired

RULES = [pytest.param(rule, id=rule.code) for rule in catalogue() if repairers(rule.code)]
STYLES: dict[str, Callable[[str], str]] = {
    "tabs": lambda text: text.replace("    ", "\t"),
    "crlf": lambda text: text.replace("\n", "\r\n"),
    "no last newline": lambda text: text.rstrip("\n"),
}


@cache
def found(rule: Rule, folder: Path) -> Finding:
    """What the auditor says of the bad example."""
    script = folder / "example.py"
    script.write_text(program(rule.bad), encoding="utf-8")
    first = findings(audit(script), script)[0]
    assert first.code == rule.code
    return first


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("examples")


@pytest.mark.parametrize("rule", RULES)
def test_the_repaired_example_runs_in_silence(rule: Rule, folder: Path) -> None:
    said = []
    for after in repaired(found(rule, folder), program(rule.bad)):
        better = folder / "better.py"
        better.write_text(after, encoding="utf-8")
        done = audit(better)
        if not done.answer["findings"] and done.status == 0:
            return
        said.append((after, done.answer["findings"], done.stderr))
    pytest.fail(f"no repair of {rule.code} is silent: {said}")


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("rule", RULES)
def test_the_repair_keeps_the_style(rule: Rule, style: str, folder: Path) -> None:
    change, given = STYLES[style], blurred(found(rule, folder))
    text = program(rule.bad)
    # Where the last line itself is moved away, the line above it keeps its own ending.
    results = [after.rstrip("\r\n") for after in repaired(given, change(text))]
    assert results == [change(after).rstrip("\r\n") for after in repaired(given, text)]
