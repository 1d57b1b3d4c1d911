from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradledger.report.plain import ascii_only, harmless
from tests.samples import steady


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ✓ 勾配 é", "plain ✓ 勾配 é"),
        ("\x1b[31m", "\\x1b[31m"),
        ("a\nb\tc\r", "a\\x0ab\\x09c\\x0d"),
        ("\x7f\x9b", "\\x7f\\x9b"),
        ("a\u202eb", "a\\u202eb"),
        ("\u2028", "\\u2028"),
        ("\udc80", "\\udc80"),
        ("\U000e0001", "\\U000e0001"),
    ],
)
def test_what_a_terminal_would_obey_is_shown(text: str, shown: str) -> None:
    assert harmless(text) == shown


def test_ascii_uses_the_nearest_signs() -> None:
    assert ascii_only("│ ◄ × … “é”") == '| <-- x ... "\\xe9"'


@steady
@given(st.text())
def test_nothing_harmful_is_left_and_a_second_pass_changes_nothing(text: str) -> None:
    safe = harmless(text)
    assert not {unicodedata.category(character) for character in safe} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert harmless(safe) == safe
    assert ascii_only(safe).isascii()
    assert ascii_only(safe).isprintable()
