from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradledger.checking.splicing import BadEdit, spliced
from gradledger.rules.finding import Edit
from tests.samples import steady


def edit(start: tuple[int, int], end: tuple[int, int], text: str) -> Edit:
    return Edit("a.py", start, end, text)


def test_edits_are_independent_of_their_order() -> None:
    edits = [edit((2, 1), (2, 1), "new\n"), edit((1, 1), (1, 2), "A"), edit((3, 1), (4, 1), "")]
    for order in (edits, edits[::-1]):
        assert spliced("a\nb\nc\nd\n", order) == "A\nnew\nb\nd\n"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_new_lines_end_as_the_others_do(end: str) -> None:
    assert spliced(f"a{end}b{end}", [edit((2, 1), (2, 1), "x\ny\n")]) == f"a{end}x{end}y{end}b{end}"


def test_form_feeds_and_separators_end_no_line() -> None:
    assert spliced("a\x0cb\u2028c\nd\n", [edit((2, 1), (2, 2), "D")]) == "a\x0cb\u2028c\nD\n"


@pytest.mark.parametrize(("text", "after"), [("a", "a\nx"), ("a\n", "a\nx\n"), ("a\r\nb", "a\r\nb\r\nx")])
def test_a_line_behind_the_last_one(text: str, after: str) -> None:
    line = len(text.split("\n")) if text.endswith("\n") else len(text.split("\n")) + 1
    assert spliced(text, [edit((line, 1), (line, 1), "x\n")]) == after


@pytest.mark.parametrize(
    "edits",
    [
        [edit((1, 1), (1, 3), ""), edit((1, 2), (1, 2), "x")],
        [edit((9, 1), (9, 1), "")],
        [edit((1, 9), (1, 9), "")],
        [edit((0, 1), (1, 1), "")],
        [edit((2, 1), (1, 1), "")],
    ],
)
def test_what_makes_no_sense_is_refused(edits: list[Edit]) -> None:
    with pytest.raises(BadEdit):
        spliced("abc\nd\n", edits)


@steady
@given(st.text(alphabet="ab \t\x0c\r\n\u2028é"))
def test_no_edit_changes_nothing(text: str) -> None:
    assert spliced(text, []) == text


@steady
@given(st.lists(st.text(alphabet="ab\t\x0c"), min_size=1), st.data())
def test_replacing_a_line_leaves_the_others(lines: list[str], data: st.DataObject) -> None:
    number = data.draw(st.integers(1, len(lines)))
    change = edit((number, 1), (number, len(lines[number - 1]) + 1), "new")
    expected = [*lines[: number - 1], "new", *lines[number:]]
    assert spliced("\n".join(lines) + "\n", [change]) == "\n".join(expected) + "\n"
