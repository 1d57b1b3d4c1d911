"""A file is parsed once while it stays as it is, and not everything is kept."""

from __future__ import annotations

import pytest

from gradledger.static import parsed
from gradledger.static.parsed import parse


@pytest.fixture(autouse=True)
def _nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsed, "_kept", {})


def test_the_same_text_is_parsed_once() -> None:
    first = parse("x = 1\n", "a.py")
    assert parse("y = 1\n", "b.py") is not first
    assert parse("x = 1\n", "a.py") is first


def test_a_changed_text_is_parsed_anew() -> None:
    first = parse("x = 1\n", "a.py")
    changed = parse("x = 2\n", "a.py")
    assert changed is not first
    assert changed.text == "x = 2\n"


def test_what_was_asked_for_longest_ago_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsed, "MOST_TEXT", 12)
    old, used = parse("x = 1\n", "old.py"), parse("y = 1\n", "used.py")
    parse("x = 1\n", "old.py")
    parse("z = 1\n", "new.py")
    assert parse("x = 1\n", "old.py") is old
    assert parse("y = 1\n", "used.py") is not used


def test_a_text_larger_than_all_room_is_parsed_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsed, "MOST_TEXT", 3)
    assert parse("x = 1\n", "a.py").text == "x = 1\n"


def test_what_cannot_be_parsed_is_not_kept() -> None:
    with pytest.raises(SyntaxError):
        parse("x = = 1\n", "a.py")
    assert parse("x = 1\n", "a.py").text == "x = 1\n"


def test_a_file_that_is_only_checked_takes_no_room() -> None:
    first = parse("x = 1\n", "a.py", keep=False)
    assert parse("x = 1\n", "a.py", keep=False) is not first
    kept = parse("x = 1\n", "a.py")
    assert parse("x = 1\n", "a.py", keep=False) is kept
