"""Windows, tallies and bounded sequences."""

from __future__ import annotations

from gradledger.ledger import events as ev
from gradledger.ledger.account import Account, Posting, Run, post
from gradledger.ledger.site import Site
from gradledger.ledger.window import Sequence, Tally, Window

STEP = ev.OptimizerStepped(Site("train.py", 5), (1,), 1)


def holding(*lines: int, tail: int = 0) -> Account:
    fresh = tuple(Run(Posting(ev.BackwardRan(Site("train.py", line), (1,)))) for line in lines)
    return Account(content="held" if lines else "none", fresh=fresh, tail=tail)


def test_the_fullest_account_gives_the_size() -> None:
    window = Window(STEP, (holding(3), holding(3, 4, 3), holding()))
    assert window.size == 3
    assert window.fullest == holding(3, 4, 3)
    assert [posting.site.line for posting in window.postings() if posting.site] == [3, 3, 4, 3]


def test_one_line_is_the_line_that_filled_it_alone() -> None:
    assert Window(STEP, (holding(3, 3),)).one_line == Site("train.py", 3)
    assert Window(STEP, (holding(3, 4),)).one_line is None
    assert Window(STEP, (holding(),)).one_line is None


def test_a_window_without_accounts_is_empty() -> None:
    window = Window(STEP, ())
    assert (window.size, window.tail, window.empty, window.one_line) == (0, 0, True, None)


def test_assigned_and_stale_gradients_are_not_empty() -> None:
    assert Window(STEP, (Account(content="zero"), Account())).empty
    assert not Window(STEP, (Account(), Account(content="assigned"))).empty
    assert not Window(STEP, (Account(content="held", stale=(Posting(ev.BackwardRan(None, (1,))),)),)).empty


def test_the_longest_tail_counts() -> None:
    assert Window(STEP, (holding(3, tail=1), holding(3, 3, tail=2))).tail == 2


def test_lost_entries_of_all_accounts() -> None:
    lost = holding(3)
    cleared = ev.GradientCleared(Site("train.py", 6), (1,))
    account = post(lost, cleared)
    assert len(list(Window(STEP, (account, Account(), account)).lost())) == 2


def test_a_tally_knows_first_and_last() -> None:
    tally = Tally()
    for step in (3, 4, 9):
        tally.hit(step)
    assert (tally.count, tally.first, tally.last) == (3, 3, 9)


def test_equal_windows_in_a_row_are_counted() -> None:
    one, two, four = (
        Window(STEP, (holding(3),)),
        Window(STEP, (holding(3, 3),)),
        Window(STEP, (holding(4, 3),)),
    )
    sequence = Sequence()
    for window in (one, two, two, four, one):
        sequence.add(window)
    assert [count for _, count in sequence.runs] == [1, 2, 1, 1]
    assert sequence.sizes() == [(1, 1), (2, 3), (1, 1)]


def test_a_long_sequence_gives_up_its_middle() -> None:
    first, last = Window(STEP, (holding(1),)), Window(STEP, (holding(1, 1, 1),))
    pair = Window(STEP, (holding(2),)), Window(STEP, (holding(2, 2),))
    sequence = Sequence(most=6)
    sequence.add(first)
    for number in range(50):
        sequence.add(pair[number % 2])
    sequence.add(last)
    assert len(sequence.runs) == 6
    assert sequence.runs[0][0] is first
    assert sequence.runs[-1][0] is last
    assert sequence.dropped + sum(count for _, count in sequence.runs) == 52
