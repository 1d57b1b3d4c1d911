from __future__ import annotations

import pytest

from gradledger.audit import globs, place
from gradledger.audit.globs import matches
from tests.audit.windows import WINDOWS


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*.py", "a/b/train.py"),
        ("train.py", "a/b/train.py"),
        ("tests", "tests/a/train.py"),
        ("tests/", "a/tests/train.py"),
        ("a/b", "a/b/train.py"),
        ("a/*.py", "a/train.py"),
        ("./a/*.py", "a/train.py"),
        ("a/**/*.py", "a/train.py"),
        ("a/**/*.py", "a/b/c/train.py"),
        ("**/train.py", "train.py"),
        ("a/**", "a/b/train.py"),
        ("a/t?ain.py", "a/train.py"),
        ("a/(x)+.py", "a/(x)+.py"),
        ("/project/a/*.py", "a/train.py"),
    ],
)
def test_pattern_covers_file(pattern: str, path: str) -> None:
    assert matches(pattern, f"/project/{path}", "/project")


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*.pyi", "train.py"),
        ("test", "tests/train.py"),
        ("a/*.py", "a/b/train.py"),
        ("b/*.py", "a/b/train.py"),
        ("a/t?ain.py", "a/t/ain.py"),
        ("a/(x)+.py", "a/xx.py"),
        ("a/**/b.py", "a/bb.py"),
    ],
)
def test_pattern_does_not_cover_file(pattern: str, path: str) -> None:
    assert not matches(pattern, f"/project/{path}", "/project")


def test_a_file_on_another_drive_is_covered_by_its_name_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(globs, "os", WINDOWS)
    monkeypatch.setattr(place, "os", WINDOWS)
    assert matches("*.py", r"D:\data\train.py", r"C:\project")
    assert matches("data/*.py", r"C:\project\data\train.py", r"C:\project")
    assert not matches("data/*.py", r"D:\data\train.py", r"C:\project")
