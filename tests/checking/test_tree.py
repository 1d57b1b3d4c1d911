from __future__ import annotations

from pathlib import Path

import pytest

from gradledger.checking.tree import check_paths

pytestmark = pytest.mark.usefixtures("stand_in")


def test_files_folders_and_what_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    for name in ("a/x.py", "a/y.py", "b.txt"):
        (tmp_path / name).write_text("MISTAKE backward()\n")
    outcomes = check_paths(["a", "b.txt", "a/x.py", "nope.py"], str(tmp_path))
    assert [f.site.path for f in outcomes.findings] == [
        str(tmp_path / n) for n in ("a/x.py", "a/y.py", "b.txt")
    ]
    assert [str(p) for p in outcomes.problems] == [f"{tmp_path}/nope.py:1: does not exist"]
    assert outcomes.files == 3


def test_a_named_file_is_parsed_although_it_trains_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("print 'x'\n")
    (tmp_path / "b.py").write_text("def f(:\n")
    assert check_paths(["."], str(tmp_path)).problems == ()
    first, second = check_paths(["a.py", "b.py"], str(tmp_path)).problems
    assert "a.py:1: looks like Python 2" in str(first)
    assert "b.py:1: cannot be parsed by Python " in str(second)


def test_deep_nesting_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = " + "(" * 5000 + ")" * 5000 + "\n")
    (tmp_path / "b.py").write_text("x = " + "-" * 100_000 + "1\n")
    problems = check_paths(["a.py", "b.py"], str(tmp_path)).problems
    assert [problem.reason for problem in problems] == ["is nested too deeply to be checked; exclude it"] * 2


def test_one_bad_file_does_not_keep_the_rest(tmp_path: Path) -> None:
    texts = {"a.py": "FAULT", "b.py": "SYNTAX", "c.py": "MISTAKE", "d.py": "DEEP"}
    for name, text in texts.items():
        (tmp_path / name).write_text(f"{text} backward()\n")
    outcomes = check_paths(["."], str(tmp_path))
    assert len(outcomes.problems) == 3
    assert [finding.site.path for finding in outcomes.findings] == [str(tmp_path / "c.py")]
