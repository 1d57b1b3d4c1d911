"""GL204 short-first-window."""

from __future__ import annotations

from collections.abc import Iterable

from gradledger.ledger.books import Books
from gradledger.ledger.window import Sequence
from gradledger.rules.draft import Draft, fixed
from gradledger.rules.finding import Severity
from gradledger.rules.rule import Rule
from gradledger.rules.wording import related


class ShortFirstWindow(Rule):
    """The first window of the run holds a single micro-batch, because the guard is true at once.

    What is wrong
        `if i % n == 0` is true at `i = 0`: the first step applies one micro-batch in place of N, divided by N
        all the same, and every later window is shifted by one, so that the epoch's end is left over.

    Why it stays silent
        All later windows have the right size, and one small update is not seen in any curve.

    When to allow it
        When the first step is meant to come early, for instance to allocate the optimizer's state.
    """

    code = "GL204"
    name = "short-first-window"
    severity = Severity.ERROR
    summary = "stepping at `i % n == 0`: the first window holds one micro-batch"
    static = "yes"
    runtime = "yes"
    bad = """\
accumulate = 3
for i, (x, y) in enumerate(loader):
    loss = loss_fn(model(x), y) / accumulate
    loss.backward()
    if i % accumulate == 0:
        optimizer.step()  # <- here
        optimizer.zero_grad()
"""
    good = """\
accumulate = 3
for i, (x, y) in enumerate(loader):
    loss = loss_fn(model(x), y) / accumulate
    loss.backward()
    if (i + 1) % accumulate == 0 or i + 1 == len(loader):
        optimizer.step()
        optimizer.zero_grad()
"""

    def on_books(self, books: Books) -> Iterable[Draft]:
        """Look at the first windows of each optimizer."""
        for number, book in books.optimizers.items():
            size = _later_size(book.sequence)
            if size is None:
                continue
            (first, _), (second, _) = book.sequence.runs[:2]
            if not first.step.windowed or first.one_line is None or first.one_line != second.one_line:
                continue
            yield Draft(
                site=first.step.site,
                message="steps after the first micro-batch alone: the guard is already true at i = 0",
                related=related((first.one_line, "posts the micro-batches")),
                remedy=f"count from one in the guard: `if (i + 1) % {size} == 0:`",
                detail=fixed(f"the first window held 1 micro-batch, the windows after it {size}"),
                optimizer=number,
                first_step=1,
            )


def _later_size(sequence: Sequence) -> int | None:
    """The size of the windows after a first one of a single micro-batch, if they have one."""
    sizes = sequence.sizes()
    if len(sizes) < 2 or sizes[0] != (1, 1) or sizes[1][0] < 2:
        return None
    size, in_a_row = sizes[1]
    if in_a_row >= 2:
        return size
    later = sequence.runs[1:]
    whole = [(window.size, count) for window, count in later if not window.tail]
    # Where an epoch leaves something over, the next one's first micro-batch closes that window.
    closed = all(window.size == window.tail + 1 for window, _ in later if window.tail)
    regular = all(one == size for one, _ in whole) and sum(count for _, count in whole) >= 2
    return size if closed and regular else None
