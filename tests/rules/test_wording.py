from __future__ import annotations

import pytest

from gradledger.ledger.site import Site
from gradledger.rules.finding import Related
from gradledger.rules.wording import line, related, times

HERE = Site("train.py", 3)


def test_a_line_is_named_as_the_reader_sees_it() -> None:
    assert line(None) == line(None, HERE) == "an unknown line"
    assert line(HERE) == line(HERE, Site("train.py", 9)) == "line 3"
    assert line(HERE, Site("other.py", 9)) == "train.py:3"
    assert line(Site("a.ipynb", 3, cell=2), Site("a.ipynb", 9, cell=4)) == "line 3 of cell 2"
    assert line(Site("a.ipynb", 3, cell=2), HERE) == "a.ipynb:cell 2:3"


def test_a_line_takes_part_once_with_what_it_does_first() -> None:
    other = Site("train.py", 4)
    places = (HERE, "first"), (None, "nowhere"), (other, "then"), (Site("train.py", 3, 7), "again")
    assert related(*places) == (Related(HERE, "first"), Related(other, "then"))


@pytest.mark.parametrize(
    ("count", "word", "text"),
    [
        (0, "step", "0 steps"),
        (1, "step", "1 step"),
        (2, "step", "2 steps"),
        (1, "pass", "1 pass"),
        (2, "pass", "2 passes"),
        (2, "micro-batch", "2 micro-batches"),
    ],
)
def test_numbers_and_their_words(count: int, word: str, text: str) -> None:
    assert times(count, word) == text
