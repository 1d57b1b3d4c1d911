from __future__ import annotations

import pytest

from gradledger.rules.draft import Numbers, fixed


@pytest.mark.parametrize(
    ("count", "steps", "text"),
    [
        (1, 0, "at the only step"),
        (1, 1, "at the only step"),
        (1, 2, "1 of 2 steps"),
        (2, 2, "all 2 steps"),
        (3, 2, "all 2 steps"),
        (124, 125, "124 of 125 steps"),
    ],
)
def test_how_often_in_words(count: int, steps: int, text: str) -> None:
    assert Numbers(count, 1, 1, steps).often == text


def test_what_the_rule_knows_already_does_not_depend_on_the_numbers() -> None:
    assert fixed("a full window holds 4")(Numbers(7, 1, 9, 9)) == "a full window holds 4"
