from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gradledger.report.cells import cells, cut, wrap
from tests.samples import steady


def test_wide_and_combining_characters() -> None:
    assert cells("abc") == 3
    assert cells("勾配") == 4
    assert cells("e\u0301") == 1


def test_cut_marks_what_is_missing() -> None:
    assert cut("abcdef", 6, "…") == "abcdef"
    assert cut("abcdef", 5, "…") == "abcd…"
    assert cut("abcdef", 5, "...") == "ab..."
    assert cut("勾配勾配", 5, "…") == "勾配…"


def test_wrap_keeps_words_and_breaks_what_is_too_long() -> None:
    assert wrap("one two three", 7) == ["one two", "three"]
    assert wrap("one two three", 3, 9) == ["one", "two three"]
    assert wrap("abcdefgh", 3) == ["abc", "def", "gh"]
    assert wrap("", 10) == [""]


def test_wrap_ends_where_there_is_no_room_at_all() -> None:
    assert wrap("abc d", -3) == ["ab", "c", "d"]


@steady
@given(st.text(), st.integers(2, 40), st.integers(2, 40))
def test_no_line_is_wider_than_asked(text: str, first: int, rest: int) -> None:
    lines = wrap(text, first, rest)
    assert cells(lines[0]) <= first
    assert all(cells(line) <= rest for line in lines[1:])


@steady
@given(st.text(), st.integers(2, 40))
def test_wrapping_loses_nothing_but_spaces(text: str, width: int) -> None:
    assert "".join(wrap(text, width)).replace(" ", "") == "".join(text.split())


@steady
@given(st.text(), st.integers(3, 40))
def test_cut_text_fits(text: str, width: int) -> None:
    assert cells(cut(text, width, "...")) <= width
