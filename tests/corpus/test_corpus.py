"""Whole user scripts: each planted mistake is named at its line, and correct scripts are left in peace."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.forked import Audit, audit

_HERE = Path(__file__).parent
_LIBRARY = re.compile(r"^\s*(?:import|from) (accelerate|lightning|transformers|ignite)\b", re.MULTILINE)
_PROCESSES = re.compile(r"\bmp\.spawn\(|\bimport torch\.distributed\b|\bsubprocess\b|\bget_context\(")


def scripts(kind: str) -> list[object]:
    """The scripts of a folder, marked by what they need."""
    found = []
    for path in sorted((_HERE / kind).glob("*.py")):
        text = path.read_text(encoding="utf-8")
        marks = [pytest.mark.libraries] if _LIBRARY.search(text) else []
        marks += [pytest.mark.distributed] if _PROCESSES.search(text) else []
        marks += [pytest.mark.slow] if "torch.compile(" in text else []
        found.append(pytest.param(path, id=path.stem, marks=marks))
    return found


def expected(script: Path) -> dict[int, set[str]]:
    """Which codes are right at which lines."""
    lines = enumerate(script.read_text(encoding="utf-8").splitlines(), 1)
    marks = ((number, re.search(r"# expect: ([GL\d|]+)", line)) for number, line in lines)
    return {number: set(mark[1].split("|")) for number, mark in marks if mark}


def no_fault_of_ours(done: Audit) -> bool:
    return "gradledger: internal error" not in done.stderr and not done.answer["notes"]


@pytest.mark.parametrize("script", scripts("bad"))
def test_the_planted_mistake_is_named_at_its_line(script: Path) -> None:
    done = audit(script)
    findings = [f for f in done.answer["findings"] if f["certainty"] == "certain"]
    marked = expected(script)
    assert findings, (marked, done.answer["findings"], done.stderr)
    for finding in findings:
        assert Path(finding["path"]).name == script.name
        assert finding["code"] in marked.get(finding["line"], set()), (finding, marked)
    fails = any(finding["severity"] != "performance" for finding in findings)
    assert done.status == int(fails or "Traceback" in done.stderr)
    assert no_fault_of_ours(done), done.answer["notes"]


@pytest.mark.parametrize("script", scripts("good"))
def test_a_correct_script_is_left_in_peace(script: Path) -> None:
    done = audit(script)
    assert done.status == 0, (done.answer, done.stderr)
    assert done.answer["findings"] == [], done.answer["findings"]
    assert no_fault_of_ours(done), done.answer["notes"]


def test_every_bad_script_is_marked_with_its_own_code() -> None:
    for script in (_HERE / "bad").glob("*.py"):
        codes = set().union(*expected(script).values())
        assert script.name[:5] in codes, script.name
