"""Windows of a program that never repeats itself: those that differ only in what a pass reached are one."""

from __future__ import annotations

from gradledger.ledger.account import Account, Lost, Posting, Run
from gradledger.ledger.books import OptimizerBook
from gradledger.ledger.record import replace
from gradledger.ledger.window import Tally, Window

WINDOWS_REMEMBERED = 2048
"""Where even more kinds than these are left, the rarest go."""


def fold(book: OptimizerBook) -> None:
    """Join the windows of an optimizer, if there are too many of them; their counts are added."""
    if len(book.windows) <= WINDOWS_REMEMBERED:
        return
    measured = {measured.window for measured in book.measured}
    alike: dict[Window, tuple[Window, Tally]] = {}
    kept: dict[Window, Tally] = {}
    for window, tally in book.windows.items():
        if window in measured:
            kept[window] = tally
            continue
        _, joined = alike.setdefault(_outline(window), (window, Tally(0, tally.first, tally.last)))
        joined.count += tally.count
        joined.first = min(joined.first, tally.first)
        joined.last = max(joined.last, tally.last)
    commonest = sorted(alike.values(), key=lambda pair: pair[1].count, reverse=True)[:WINDOWS_REMEMBERED]
    book.windows = {**dict(commonest), **kept}


def _outline(window: Window) -> Window:
    return Window(window.step, tuple(dict.fromkeys(map(_lone, window.accounts))))


def _lone(account: Account) -> Account:
    """The account as if it were the only one that the passes in it had reached."""
    fresh = tuple(Run(_alone(run.posting), run.count) for run in account.fresh)
    lost = tuple(_thrown_away(item) for item in account.lost)
    return replace(account, fresh=fresh, stale=tuple(map(_alone, account.stale)), lost=lost)


def _thrown_away(lost: Lost) -> Lost:
    return replace(
        lost, run=Run(_alone(lost.run.posting), lost.run.count), cleared=replace(lost.cleared, accounts=())
    )


def _alone(posting: Posting) -> Posting:
    return replace(posting, ran=replace(posting.ran, accounts=()))
