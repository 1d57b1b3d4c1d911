"""Proposals: for every rule that can be repaired, and none where the text does not fit."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gradledger.repair.propose import proposals, repairers
from gradledger.rules.catalogue import catalogue
from gradledger.rules.finding import Finding
from tests.repair.made import finding

REQUIRED = [
    *("GL101", "GL102", "GL103", "GL104", "GL105", "GL107", "GL201", "GL202", "GL204", "GL205", "GL206"),
    *("GL301", "GL302", "GL303", "GL304", "GL307", "GL308", "GL401"),
]


@pytest.mark.parametrize("code", REQUIRED)
def test_there_is_a_repair_for_the_rule(code: str) -> None:
    assert repairers(code)


def test_each_repair_belongs_to_a_rule() -> None:
    for rule in catalogue():
        assert all(repairer.code == rule.code for repairer in repairers(rule.code))


def everywhere() -> list[Finding]:
    text = "for x in d:\n    f(x).backward()\n    opt.step()\n"
    return [finding(rule.code, text, "f(x).backward()", "opt.step()") for rule in catalogue()]


@pytest.mark.parametrize("text", ["", "\n\n\n\n", "def (", "x = 1\ny = 2\nz = 3\n", "\x00"])
@pytest.mark.parametrize("given", everywhere(), ids=lambda given: given.code)
def test_a_text_that_does_not_fit_gets_no_repair(given: Finding, text: str) -> None:
    assert list(proposals(given, text)) == []


def test_places_in_other_files_are_not_edited() -> None:
    text = "for x in d:\n    f(x).backward()\n    opt.step()\n"
    given = finding("GL101", text, "f(x).backward()", "opt.step()")
    elsewhere = tuple(replace(r, site=replace(r.site, path="other.py")) for r in given.related)
    assert list(proposals(replace(given, related=elsewhere), text)) == []


def test_a_place_in_a_cell_is_not_taken_for_a_line_of_the_file() -> None:
    text = "for x in d:\n    f(x).backward()\n    opt.step()\n"
    given = finding("GL101", text, "f(x).backward()", "opt.step()")
    assert list(proposals(replace(given, site=replace(given.site, cell=2)), text)) == []
