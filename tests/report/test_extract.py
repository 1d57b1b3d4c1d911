from __future__ import annotations

from pathlib import Path

import pytest

from gradledger.audit.source import forget
from gradledger.ledger.site import Site
from gradledger.report.extract import extract
from gradledger.rules.finding import Finding, Related
from tests.samples import finding


@pytest.fixture
def path(tmp_path: Path) -> str:
    path = tmp_path / "a.py"
    path.write_text("\n".join(f"line{number}()" if number % 5 else "" for number in range(1, 31)))
    forget()
    return str(path)


def shown(found: Finding) -> list[int | None]:
    return [None if line is None else line.line for line in extract(found).lines]


def test_the_neighbours_are_shown(path: str) -> None:
    assert shown(finding(path, 3)) == [2, 3, 4]


def test_blank_lines_are_passed_over_without_a_mark(path: str) -> None:
    assert shown(finding(path, 6)) == [4, 6, 7]
    assert shown(finding(path, 1)) == [1, 2]
    assert shown(finding(path, 29)) == [28, 29]


def test_a_single_line_between_is_shown_more_are_marked(path: str) -> None:
    assert shown(finding(path, 11, related=(Related(Site(path, 14), "r"),))) == [9, 11, 12, 13, 14]
    assert shown(finding(path, 11, related=(Related(Site(path, 17), "r"),))) == [9, 11, 12, None, 17]


def test_long_statements_are_shortened(path: str) -> None:
    assert shown(finding(path, 11, end_line=14)) == [9, 11, 12, 13, 14, 16]
    assert shown(finding(path, 11, end_line=24)) == [9, 11, 12, None, 24, 26]


def test_remarks_stand_at_their_lines_once(path: str) -> None:
    same = Related(Site(path, 3), "also")
    lines = extract(finding(path, 3, message="here", related=(same, same))).lines
    assert [line.remarks for line in lines if line] == [[], [("label", "here"), ("related", "also")], []]


def test_lines_that_do_not_exist_are_elsewhere(path: str) -> None:
    found = finding(
        path, 99, message="m", related=(Related(Site("/gone.py", 1), "g"), Related(Site(path, 2), "h"))
    )
    parts = extract(found)
    assert [(site.line, code, remark) for site, code, _, remark in parts.elsewhere] == [
        (99, "", "m"),
        (1, "", "g"),
    ]
    assert [line.line for line in parts.lines if line] == [2]
