from __future__ import annotations

from pathlib import Path

import pytest

from gradledger.audit.suppress import without_allowed
from gradledger.ledger.site import Site
from gradledger.rules.finding import Related
from tests.samples import answer, finding


def kept(
    path: Path, text: str, *, line: int = 1, end_line: int = 0, related: tuple[Related, ...] = ()
) -> int:
    path.write_text(text, encoding="utf-8")
    found = finding(path, line, code="GL105", name="repeated-step", end_line=end_line, related=related)
    return len(without_allowed(answer(found), str(path.parent)).findings)


@pytest.mark.parametrize(
    "comment",
    [
        "# gradledger: allow[repeated-step]",
        "# gradledger: allow[GL105]",
        "#gradledger:allow[ gl105 ]",
        "# GradLedger: Allow[Repeated-Step]",
        "# noqa # gradledger: allow[GL105]  # because",
        "# gradledger: allow[no-such-rule, GL105]",
        "# gradledger: allow[no-such-rule] allow[GL105]",
    ],
)
def test_a_comment_on_the_line_allows_the_finding(tmp_path: Path, comment: str) -> None:
    assert kept(tmp_path / "a.py", f"opt.step()  {comment}\n") == 0


@pytest.mark.parametrize(
    "comment",
    [
        "# allow[GL105]",
        "# gradledger: allow[no-such-rule]",
        "# gradledger: allow[]",
        "# gradledger: GL105",
        "",
    ],
)
def test_other_comments_do_not(tmp_path: Path, comment: str) -> None:
    assert kept(tmp_path / "a.py", f"opt.step()  {comment}\n") == 1


def test_a_comment_inside_a_string_does_not(tmp_path: Path) -> None:
    assert kept(tmp_path / "a.py", "step('# gradledger: allow[GL105]')\n") == 1


def test_the_lines_around_do_not(tmp_path: Path) -> None:
    text = "a()  # gradledger: allow[GL105]\nopt.step()\nb()  # gradledger: allow[GL105]\n"
    assert kept(tmp_path / "a.py", text, line=2) == 1


def test_any_line_of_the_statement_does(tmp_path: Path) -> None:
    text = "opt.step(\n    closure,  # gradledger: allow[GL105]\n)\n"
    assert kept(tmp_path / "a.py", text, line=1, end_line=3) == 0
    assert kept(tmp_path / "b.py", text, line=1) == 1


def test_a_related_line_does_also_in_another_file(tmp_path: Path) -> None:
    other = tmp_path / "other.py"
    other.write_text("\nopt.step()  # gradledger: allow[GL105]\n")
    related = (Related(Site(str(other), 2), "the first step"),)
    assert kept(tmp_path / "a.py", "opt.step()\n", related=related) == 0


def test_a_missing_file_allows_nothing(tmp_path: Path) -> None:
    before = answer(finding(tmp_path / "gone.py"))
    assert without_allowed(before, str(tmp_path)) == before


def test_an_unknown_name_is_noted_once(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("opt.step()  # gradledger: allow[repeted-step]\n")
    twice = answer(finding(path, 1), finding(path, 1, code="GL105"), notes=("first",))
    result = without_allowed(twice, str(tmp_path))
    first, note = result.notes
    assert first == "first"
    assert note.startswith("a.py:1: allow[repeted-step] names no rule (nearest: repeated-step")
    assert len(result.findings) == 2


def test_a_comment_that_allows_nothing_is_noted(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("opt.step()  # gradledger: allow repeated-step\n")
    (note,) = without_allowed(answer(finding(path, 1)), str(tmp_path)).notes
    assert note.startswith("a.py:1: this comment allows nothing")


@pytest.mark.parametrize(
    ("comment", "left"),
    [
        ("# noqa", 0),
        ("# NOQA", 0),
        ("#noqa:GL105", 0),
        ("# noqa: E501,GL105", 0),
        ("# noqa: E501 GL105", 0),
        ("# noqa : gl105", 0),
        ("# because  # noqa: GL1", 0),
        ("# noqa: GL101", 1),
        ("# noqa: E501", 1),
        ("# noqa: because", 1),
        ("# noqad", 1),
        ("# flake8: noqa: GL101", 1),
        ("# flake8: noqa: GL105", 0),
        ("# ruff: noqa", 0),
    ],
)
def test_noqa(tmp_path: Path, comment: str, left: int) -> None:
    assert kept(tmp_path / "a.py", f"opt.step()  {comment}\n") == left


def test_noqa_holds_for_the_lines_of_the_finding_only(tmp_path: Path) -> None:
    text = "opt.step(\n    closure,  # noqa: GL105\n)\nopt.step()  # noqa\n"
    assert kept(tmp_path / "a.py", text, line=1, end_line=3) == 0
    related = (Related(Site(str(tmp_path / "a.py"), 4), "again"),)
    assert kept(tmp_path / "a.py", text, line=1, related=related) == 1


def test_noqa_for_a_whole_file(tmp_path: Path) -> None:
    assert kept(tmp_path / "a.py", "# flake8: noqa: GL105\n\nopt.step()\n", line=3) == 0
    assert kept(tmp_path / "b.py", "# noqa: GL105\n\nopt.step()\n", line=3) == 1
