"""A page that shows something else than was printed is found out."""

from __future__ import annotations

import pytest

from tests.docs.comparing import assert_shown


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("a\nb", "a\nb\n"),
        ("b", "a\nb\nc\n"),
        ("a\n…\nd", "a\nb\nc\nd\n"),
        ("at http://127.0.0.1:…/", "at http://127.0.0.1:41523/token/"),
    ],
)
def test_what_was_printed_may_be_shown(shown: str, printed: str) -> None:
    assert_shown(shown, printed)


@pytest.mark.parametrize(
    ("shown", "printed"),
    [("a\nb", "b\na\n"), ("a 1", "a 2"), ("a\nc", "a\nb\nc"), ("d\n…\na", "a\nb\nd"), ("a…z", "a b")],
)
def test_what_was_not_printed_may_not(shown: str, printed: str) -> None:
    with pytest.raises(AssertionError):
        assert_shown(shown, printed)


def test_numbers_may_be_rounded_where_the_page_says_about() -> None:
    assert_shown("loss 1.59  norm 100\n0.8 │ •", "loss  1.60 norm 101\n0.9 │   •", about=True)
    for other in ("loss 1.9 norm 100", "norm 1.59 loss 100", "loss 1.59"):
        with pytest.raises(AssertionError):
            assert_shown("loss 1.59 norm 100", other, about=True)
