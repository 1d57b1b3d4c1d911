"""GL202 leaked-tail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from gradledger.ledger.books import Books, OptimizerBook
from gradledger.ledger.record import dataclass
from gradledger.ledger.site import Site
from gradledger.rules.draft import Draft, fixed
from gradledger.rules.finding import Severity
from gradledger.rules.regularity import regular_size, steady, step_line
from gradledger.rules.rule import Rule
from gradledger.rules.wording import line, related, times


class LeakedTail(Rule):
    """The last, short window of an epoch is never stepped.

    What is wrong
        When N does not divide the number of batches, the micro-batches after the last full window are left
        in `.grad`. They leak into the next epoch's first window, which then holds more than N, or a
        `zero_grad()` throws them away, or the run ends without having used them.

    Why it stays silent
        Only one window per epoch is affected, and nothing counts what it holds.

    When to allow it
        When losing a few micro-batches per epoch is accepted, as `drop_last=True` does on purpose.
    """

    code = "GL202"
    name = "leaked-tail"
    severity = Severity.ERROR
    summary = "the last short window of an epoch is never stepped: it leaks into the next epoch, or is lost"
    static = "as possible, unless sizes are known"
    runtime = "yes"
    yields_to = ("GL204", "GL103", "GL404")
    bad = """\
accumulate = 4
for epoch in range(3):
    for i, (x, y) in enumerate(loader):
        loss = loss_fn(model(x), y) / accumulate
        loss.backward()
        if (i + 1) % accumulate == 0:
            optimizer.step()  # <- here
            optimizer.zero_grad()
"""
    good = """\
accumulate = 4
for epoch in range(3):
    for i, (x, y) in enumerate(loader):
        loss = loss_fn(model(x), y) / accumulate
        loss.backward()
        if (i + 1) % accumulate == 0 or i + 1 == len(loader):
            optimizer.step()
            optimizer.zero_grad()
"""

    def on_books(self, books: Books) -> Iterable[Draft]:
        """Look at what was waiting whenever an epoch ended."""
        for number, book in books.optimizers.items():
            size = regular_size(book)
            if size < 2 or not steady(book, size):
                continue
            if any(window.tail and window.size <= size for window in book.windows):
                continue  # the tail was flushed, or the counter runs on over the epochs
            step = step_line(book, size)
            told = _leaked(book, size) or _lost(book, size, step) or _left(books, number, size)
            if told is not None:
                yield Draft(
                    site=step,
                    message=told.message,
                    related=related((_backward_line(book, size), "posts the micro-batches")),
                    remedy="step also after the last batch of an epoch, "
                    "`if (i + 1) % n == 0 or i + 1 == len(loader):`, or once more after the loop",
                    detail=fixed(told.detail),
                    optimizer=number,
                    count=told.count,
                    first_step=told.first,
                )


@dataclass(frozen=True, slots=True)
class _Told:
    message: str
    detail: str
    count: int = 1
    first: int = 0


def _leaked(book: OptimizerBook, size: int) -> _Told | None:
    # A window that ends with its epoch was flushed; a leak has micro-batches of the next epoch in it.
    leaks = [(w, tally) for w, tally in book.windows.items() if w.tail and w.size > max(size, w.tail)]
    if not leaks:
        return None
    window = max(leaks, key=lambda leak: leak[1].count)[0]
    count = sum(tally.count for _, tally in leaks)
    return _Told(
        f"never steps {_last(window.tail, 'an epoch')}: what is left leaks into the next epoch",
        f"{times(count, 'window')} held {window.size} micro-batches in place of {size}",
        count,
        min(tally.first for _, tally in leaks),
    )


def _lost(book: OptimizerBook, size: int, step: Site | None) -> _Told | None:
    # A line that also clears whole unused windows does so on purpose: the first of two passes.
    habitual = {
        lost.cleared.site for window in book.windows for lost in window.lost() if not lost.after_epoch
    }
    habitual |= {cleared.site for cleared, tail in book.lost_tails if tail >= size}
    tails = Counter(
        {
            (cleared, tail): count
            for (cleared, tail), count in book.lost_tails.items()
            if cleared.site not in habitual
        }
    )
    if not tails:
        return None
    cleared, tail = max(tails, key=lambda lost: tails[lost])
    count = sum(tails.values())
    return _Told(
        f"never steps {_last(tail, 'an epoch')}: {line(cleared.site, step)} clears what is left",
        f"{times(count, 'short window')} thrown away",
        count,
    )


def _left(books: Books, number: int | None, size: int) -> _Told | None:
    if not books.ended or not books.complete:
        return None
    states = (books.accounts[account] for account, _ in books.held_by(number))
    waiting = [
        state.waiting
        for state in states
        if state.tail
        and state.waiting < size
        and any(p.used_by is None and not p.ran.wants_input for p in state.postings())
    ]
    if not waiting:
        return None
    return _Told(
        f"never steps {_last(max(waiting), 'the last epoch')}: the run ends without using what is left",
        f"a full window holds {size}",
    )


def _last(tail: int, epoch: str) -> str:
    return f"the last {times(tail, 'micro-batch') if tail > 1 else 'micro-batch'} of {epoch}"


def _backward_line(book: OptimizerBook, size: int) -> Site | None:
    lines = (window.one_line for window in book.windows if window.size == size)
    return next((site for site in lines if site is not None), None)
