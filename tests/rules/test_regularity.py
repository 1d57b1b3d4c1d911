from __future__ import annotations

import pytest

from gradledger.rules.regularity import (
    holder,
    mostly,
    new_batches,
    regular_size,
    steady,
    step_line,
    usual_advances,
)
from tests.ledger_script import Script, at


def sized(*sizes: int) -> Script:
    script = Script()
    for size in sizes:
        for _ in range(size):
            script.batch(3)
        script.step(5 if size > 1 else 9).clear(6)
    return script


def test_the_usual_size_is_the_most_frequent_and_of_equals_the_largest() -> None:
    assert regular_size(sized(2, 3, 3, 2, 2).books.optimizer(1)) == 2
    assert regular_size(sized(3, 2, 2, 3).books.optimizer(1)) == 3
    assert regular_size(sized(0).books.optimizer(1)) == 0


def test_a_window_with_a_tail_in_it_is_not_usual() -> None:
    script = sized(2)
    for _ in range(3):
        script.batch(3).epoch_ends().batch(3).batch(3).step(5).clear(6)
    assert regular_size(script.books.optimizer(1)) == 2


def test_steady_is_three_fifths_unless_told_otherwise() -> None:
    book = sized(2, 2, 2, 3, 4).books.optimizer(1)
    assert steady(book, 2)
    assert not steady(book, 2, share=0.7)
    assert not steady(book, 3)


@pytest.mark.parametrize(
    ("count", "total", "whether"),
    [(0, 0, False), (1, 1, True), (1, 2, False), (2, 2, True), (4, 5, True), (3, 4, False), (8, 10, True)],
)
def test_mostly_is_four_fifths_and_at_least_two(count: int, total: int, whether: bool) -> None:
    assert mostly(count, total) is whether


def test_mostly_may_be_less() -> None:
    assert mostly(2, 4, share=0.5)
    assert not mostly(1, 4, share=0.1)


def test_a_window_of_new_batches_has_no_other_pass_in_it() -> None:
    (window,) = Script().batch(3).batch(3).step(5).books.optimizer(1).windows
    assert new_batches(window)
    (window,) = Script().batch(3).backward(4).step(5).books.optimizer(1).windows
    assert not new_batches(window)


def test_the_line_that_steps_most_often() -> None:
    book = sized(1, 2, 2, 1, 1).books.optimizer(1)
    assert step_line(book) == at(9)
    assert step_line(book, 2) == at(5)
    assert step_line(book, 7) is None
    assert step_line(sized(2, 2, 2, 1).books.optimizer(1)) == at(5)


def test_a_line_steps_as_often_as_in_all_its_windows() -> None:
    book = sized(2, 3, 1, 1, 2, 3, 1).books.optimizer(1)
    assert step_line(book) == at(5)


def test_the_usual_number_of_advances() -> None:
    script = Script().scheduler(2)
    assert usual_advances(script.books.schedulers[1]) == 0
    for count in (3, 1, 1):
        script.backward(3)
        for _ in range(count):
            script.advance(8)
        script.step(5)
    assert usual_advances(script.books.schedulers[1]) == 1


def test_the_one_optimizer_that_holds_them_all() -> None:
    books = Script().open(2, optimizer=1).open(3, optimizer=2).open(4).books
    assert holder(books, (1, 2)) == 1
    assert holder(books, (1, 3)) is None
    assert holder(books, (1, 4)) is None
    assert holder(books, ()) is None
