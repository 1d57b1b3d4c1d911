"""Cards of missed questions come back at growing distances."""

from __future__ import annotations

from gradledger.lessons.progress.cards import DAY, due, known, missed, next_due, wait_text
from gradledger.lessons.progress.state import Card, Progress


def test_a_missed_question_is_due_at_once() -> None:
    progress = missed(Progress(), "l07.tail", now=100.0)
    assert progress.cards == {"l07.tail": Card(1, 100.0)}
    assert due(progress.cards, 100.0) == ["l07.tail"]


def test_a_known_card_rests_longer_each_time_and_is_done_with_after_five() -> None:
    progress, now, waits = missed(Progress(), "a", now=0.0), 0.0, []
    for _ in range(4):
        progress = known(progress, "a", now)
        (card,) = progress.cards.values()
        assert due(progress.cards, card.due - 1) == []
        assert due(progress.cards, card.due) == ["a"]
        waits.append((card.due - now) / DAY)
        now = card.due
    assert waits == [1, 3, 7, 21]
    assert known(progress, "a", now).cards == {}


def test_a_card_that_is_missed_again_starts_over() -> None:
    progress = known(known(missed(Progress(), "a", 0.0), "a", 0.0), "a", DAY)
    assert progress.cards["a"].box == 3
    assert missed(progress, "a", 5.0).cards == {"a": Card(1, 5.0)}


def test_low_boxes_come_first_and_what_is_not_due_waits() -> None:
    cards = {"old": Card(3, 1.0), "new": Card(1, 2.0), "later": Card(1, 99.0)}
    assert due(cards, 10.0) == ["new", "old"]
    assert next_due(cards) == 1.0
    assert next_due({}) is None


def test_a_question_without_card_that_is_known_gets_none() -> None:
    assert known(Progress(), "a", 0.0) == Progress()


def test_waits_in_words() -> None:
    assert [wait_text(s) for s in (5, 60, 150, 3600, DAY - 1, 2.6 * DAY)] == [
        "in less than a minute",
        "in 1 minute",
        "in 2 minutes",
        "in 1 hour",
        "in 1 day",
        "in 3 days",
    ]
