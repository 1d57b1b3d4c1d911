"""What is usual in an optimizer's windows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from gradledger.ledger.books import Books, OptimizerBook, SchedulerBook
from gradledger.ledger.site import Site
from gradledger.ledger.window import Window


def regular_size(book: OptimizerBook) -> int:
    """The most common number of micro-batches a step, among windows that lie within one epoch."""
    sizes = _sizes(book)
    return max(sizes, key=lambda size: (sizes[size], size), default=0)


def steady(book: OptimizerBook, size: int, *, share: float = 0.6) -> bool:
    """Whether windows of this size are the rule; where a token budget closes them, no size is."""
    sizes = _sizes(book)
    return mostly(sizes[size], sum(sizes.values()), share=share)


def mostly(count: int, total: int, *, share: float = 0.8) -> bool:
    """Whether something is the rule, not the exception: at least twice, or at the only chance there was."""
    return count >= min(2, total) and count >= 1 and count >= share * total


def same_line(window: Window) -> bool:
    """Whether one backward() line filled the window with two micro-batches or more."""
    return window.size >= 2 and window.one_line is not None


def new_batches(window: Window) -> bool:
    """Whether a loader gave a new batch for each pass."""
    return all(posting.ran.loader is not None for posting in window.fullest.postings())


def accumulates(window: Window) -> bool:
    """Whether the passes are micro-batches of one update, and not tasks or time steps of one batch."""
    return window.step.windowed or new_batches(window)


def by_hand(window: Window) -> bool:
    """Whether the program altered or assigned a gradient itself: then it does its own arithmetic."""
    return any(account.changed for account in window.accounts)


def step_line(book: OptimizerBook, size: int | None = None) -> Site | None:
    """The line that most often makes the optimizer step, among windows of this size if one is given."""
    lines: Counter[Site | None] = Counter()
    for window, tally in book.windows.items():
        if size is None or window.size == size:
            lines[window.step.site] += tally.count
    return max(lines, key=lambda site: lines[site], default=None)


def usual_advances(schedule: SchedulerBook) -> int:
    """How often the schedule advances between two steps, most of the time."""
    between = schedule.between_steps
    return max(between, key=lambda advances: between[advances], default=0)


def holder(books: Books, accounts: Iterable[int]) -> int | None:
    """The one optimizer that holds these accounts, if it is one."""
    holders = {books.balances[number].optimizer for number in accounts}
    return holders.pop() if len(holders) == 1 else None


def _sizes(book: OptimizerBook) -> Counter[int]:
    sizes: Counter[int] = Counter()
    for window, tally in book.windows.items():
        if window.size and not window.tail:
            sizes[window.size] += tally.count
    return sizes
