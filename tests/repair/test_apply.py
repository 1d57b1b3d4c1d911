"""Edits change what they name and nothing else, in whatever order they are given."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradledger.repair.apply import OverlappingEdits, applied
from gradledger.repair.text_lines import split_lines
from gradledger.rules.finding import Edit

PIECES = st.sampled_from(["a", "é", "\t", " ", "\n", "\r\n", "\x0c", "\u2028", "x = 1", "# c"])
TEXTS = st.lists(PIECES, max_size=30).map("".join)


def place(text: str, offset: int) -> tuple[int, int]:
    lines = split_lines(text[:offset])
    if not lines or lines[-1][-1] in "\r\n":
        return len(lines) + 1, 1
    return len(lines), len(lines[-1]) + 1


@st.composite
def edited(draw: st.DrawFn) -> tuple[str, list[tuple[int, int, str]]]:
    """A text and stretches of it that do not touch, each with its replacement."""
    text = draw(TEXTS)
    inside = [n for n in range(len(text) + 1) if text[n - 1 : n + 1] != "\r\n"]
    cuts = sorted(draw(st.lists(st.sampled_from(inside), unique=True, max_size=8)))
    pairs = zip(cuts[::2], cuts[1::2], strict=False)
    return text, [(start, end, draw(TEXTS)) for start, end in pairs]


def edits(text: str, stretches: list[tuple[int, int, str]]) -> list[Edit]:
    return [Edit("f.py", place(text, a), place(text, b), new) for a, b, new in stretches]


def spliced(text: str, stretches: list[tuple[int, int, str]]) -> str:
    for start, end, new in sorted(stretches, reverse=True):
        text = text[:start] + new + text[end:]
    return text


@given(edited(), st.randoms())
def test_edits_in_any_order_give_the_same_text(
    case: tuple[str, list[tuple[int, int, str]]], shuffler
) -> None:
    text, stretches = case
    shuffled = edits(text, stretches)
    shuffler.shuffle(shuffled)
    assert applied(text, shuffled) == spliced(text, stretches)


@given(edited())
def test_the_opposite_edits_undo_them(case: tuple[str, list[tuple[int, int, str]]]) -> None:
    text, stretches = case
    after = spliced(text, stretches)
    back, grown = [], 0
    for start, end, new in sorted(stretches):
        back.append((start + grown, start + grown + len(new), text[start:end]))
        grown += len(new) - (end - start)
    # A place between \r and \n is no place at the beginning or end of anything.
    cuts = [offset for start, end, _ in back for offset in (start, end)]
    if all(after[n - 1 : n + 1] != "\r\n" for n in cuts):
        assert applied(after, edits(after, back)) == text


def test_no_edit_is_no_change() -> None:
    assert applied("a\r\nb", []) == "a\r\nb"


def test_an_insertion_and_a_deletion_may_meet() -> None:
    moved = [Edit("f", (1, 1), (2, 1), ""), Edit("f", (2, 1), (2, 1), "x\n"), Edit("f", (2, 1), (3, 1), "")]
    assert applied("a\nb\nc\n", moved) == "x\nc\n"


@pytest.mark.parametrize(
    "pair",
    [
        [Edit("f", (1, 1), (1, 3), "x"), Edit("f", (1, 2), (1, 4), "y")],
        [Edit("f", (1, 2), (1, 2), "x"), Edit("f", (1, 2), (1, 2), "y")],
        [Edit("f", (1, 1), (1, 4), ""), Edit("f", (1, 2), (1, 2), "y")],
    ],
)
def test_edits_that_want_the_same_place_are_refused(pair: list[Edit]) -> None:
    for order in (pair, pair[::-1]):
        with pytest.raises(OverlappingEdits):
            applied("abcdef\n", order)


@pytest.mark.parametrize("place", [(0, 1), (1, 0), (1, 9), (9, 1)])
def test_a_place_outside_the_text_is_refused(place: tuple[int, int]) -> None:
    with pytest.raises(ValueError):
        applied("abc\n", [Edit("f", place, place, "x")])


def test_the_end_of_the_text_is_a_place_with_and_without_a_line_ending() -> None:
    assert applied("a\n", [Edit("f", (2, 1), (2, 1), "b")]) == "a\nb"
    assert applied("a", [Edit("f", (1, 2), (1, 2), "b")]) == "ab"
