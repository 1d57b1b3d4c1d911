"""What a reader types is understood as a number, or as yes or no."""

from __future__ import annotations

import pytest

from gradledger.lessons.reading.guess import agrees, shown, understood


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("8", 8.0), ("-0.5", -0.5), ("1e-3", 0.001), ("1/4", 0.25), ("50%", 0.5), ("0,25", 0.25),
        ("1 000", 1000.0), ("−3", -3.0), ("eight", None), ("1/0", None), ("", None), ("1,000.5", None),
    ],
)  # fmt: skip
def test_numbers(text: str, value: float | None) -> None:
    assert understood(text, yes_or_no=False) == value


@pytest.mark.parametrize(
    ("text", "value"), [("y", True), ("YES", True), ("n", False), ("No", False), ("7", None)]
)
def test_yes_or_no(text: str, value: bool | None) -> None:
    assert understood(text, yes_or_no=True) is value


def test_a_number_agrees_within_its_tolerance_and_a_word_exactly() -> None:
    assert agrees(8.1, 8.0, 0.02)
    assert not agrees(8.2, 8.0, 0.02)
    assert agrees(0.0, 0.0, 0.02)
    assert not agrees(0.01, 0.0, 0.02)
    assert agrees(-7.9, -8.0, 0.02)
    assert agrees(True, True, 0.5)
    assert not agrees(True, False, 0.5)


def test_values_in_the_readers_words() -> None:
    assert [shown(value) for value in (True, False, 8.0, 65536.0, 0.25, 8 / 3, 1e-9)] == [
        "yes",
        "no",
        "8",
        "65536",
        "0.25",
        "2.667",
        "1e-09",
    ]
