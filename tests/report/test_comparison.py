from __future__ import annotations

from gradledger.report.comparison import Side, compared, comparison_text
from gradledger.report.replay.retelling import retell
from gradledger.report.style import StreamFacts
from tests.report.recorded import right_run, stale_run


def side(name: str, events) -> Side:
    told = retell(events, ".")
    return Side(name, told.answer, told.books)


def test_what_came_and_went() -> None:
    wrong, right = side("a", stale_run("train.py", 9)), side("b", right_run("train.py", 4, every=2))
    better, worse = compared(wrong, right), compared(right, wrong)
    assert [f.code for f in better.gone] == ["GL101"] == [f.code for f in worse.new]
    assert not better.fails
    assert worse.fails
    text = comparison_text(better, wrong, right, StreamFacts())
    assert "gone   GL101 stale-gradient  train.py:7" in text
    assert "backward passes     9 -> 8" in text
    assert "window sizes        1 x9 -> 2 x4" in text


def test_what_stayed_and_moved() -> None:
    one, other = side("a", stale_run("old/train.py", 9)), side("b", stale_run("new/train.py", 5))
    comparison = compared(one, other)
    assert (comparison.gone, comparison.new) == ((), ())
    assert "still  GL101" in comparison_text(comparison, one, other, StreamFacts())
    assert "8 -> 4 times" in comparison_text(comparison, one, other, StreamFacts())


def test_two_right_runs() -> None:
    one = side("a", right_run("train.py"))
    assert "no findings in either run" in comparison_text(compared(one, one), one, one, StreamFacts())
