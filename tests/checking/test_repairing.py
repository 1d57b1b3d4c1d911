from __future__ import annotations

import json

import pytest

from gradledger.audit.source import source_line
from gradledger.checking.repairing import repaired
from gradledger.rules.finding import Finding
from tests.checking.notebooks import notebook
from tests.checking.programs import CLEAN, STALE


def everything(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    return findings


@pytest.mark.usefixtures("stand_in")
def test_all_that_can_be_repaired_is() -> None:
    raw = b"MISTAKE\r\nPERHAPS\r\nMISTAKE HARD\r\nx MISTAKE\r\n"
    result = repaired("a.py", raw, None, everything)
    assert result.after == b"RIGHT\r\nPERHAPS\r\nMISTAKE HARD\r\nx RIGHT\r\n"
    assert [finding.site.line for finding in result.fixed] == [1, 4]
    assert [finding.site.line for finding in result.left.findings] == [2, 3]
    assert repaired("a.py", result.after, None, everything).after == result.after


@pytest.mark.usefixtures("stand_in")
def test_what_the_user_does_not_want_is_left(tmp_path) -> None:
    seen: list[str] = []

    def keep(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
        seen.extend(source_line(f.site.path, f.site.line) for f in findings)
        return tuple(f for f in findings if f.site.line != 1)

    result = repaired("a.py", b"MISTAKE\nMISTAKE\n", None, keep)
    assert result.after == b"MISTAKE\nRIGHT\n"
    assert set(seen) == {"MISTAKE"}, "the text is at hand while the choice is made"
    assert source_line("a.py", 1) == ""


@pytest.mark.usefixtures("stand_in")
def test_a_notebook_is_repaired_in_its_cells() -> None:
    raw = notebook("x\nMISTAKE", "y", "MISTAKE\n%who").encode()
    result = repaired("a.ipynb", raw, None, everything)
    assert result.after == raw.replace(b"MISTAKE", b"RIGHT")
    assert [(f.site.cell, f.site.line) for f in result.fixed] == [(1, 2), (3, 1)]


@pytest.mark.usefixtures("stand_in")
@pytest.mark.parametrize("raw", [b"SYNTAX", b"\xff", b"", b"# coding: utf-7\n+AGE- = MISTAKE\n"])
def test_what_cannot_be_repaired_stays_as_it_is(raw: bytes) -> None:
    assert repaired("a.py", raw, None, everything).after == raw


def test_the_real_repair() -> None:
    result = repaired("a.py", STALE.encode(), None, everything)
    assert result.after.decode() == CLEAN
    assert result.left.findings == ()


def test_the_real_repair_of_a_notebook() -> None:
    before, after = STALE.split("for x", 1)
    raw = notebook(before, "for x" + after.rstrip("\n")).encode()
    result = repaired("a.ipynb", raw, None, everything)
    cells = json.loads(result.after)["cells"]
    assert "".join("".join(cell["source"]) for cell in cells) == CLEAN.rstrip("\n")
    assert len(result.after.splitlines()) == len(raw.splitlines()) + 1
