"""GL201 unscaled-window."""

from __future__ import annotations

from collections.abc import Iterable

from gradledger.ledger.books import Books
from gradledger.rules.draft import Draft, Numbers
from gradledger.rules.finding import Severity
from gradledger.rules.measured import mean_times, measured_lines, windows_of
from gradledger.rules.regularity import accumulates, mostly, regular_size, step_line
from gradledger.rules.rule import Rule
from gradledger.rules.wording import related


class UnscaledWindow(Rule):
    """The mean losses of a window are summed and not averaged.

    What is wrong
        Accumulating N micro-batches should give the gradient of one batch N times as large. Each loss is
        already a mean over its micro-batch, so their gradients must be averaged: without a division by N
        the gradient is N times too large.

    Why it stays silent
        It acts like a learning rate N times as high. With SGD that may diverge or merely train badly;
        Adam rescales it away, but clipping then bites N times as hard.

    When to allow it
        When the learning rate was tuned for the sum on purpose.
    """

    code = "GL201"
    name = "unscaled-window"
    severity = Severity.ERROR
    summary = (
        "micro-batch mean losses are summed over a window, not averaged: the gradient is N times too large"
    )
    static = "yes"
    runtime = "when it can be told"
    yields_to = ("GL103",)
    bad = """\
accumulate = 5
for epoch in range(3):
    for i, (x, y) in enumerate(loader):
        loss = loss_fn(model(x), y)
        loss.backward()  # <- here
        if (i + 1) % accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()
"""
    good = """\
accumulate = 5
for epoch in range(3):
    for i, (x, y) in enumerate(loader):
        loss = loss_fn(model(x), y) / accumulate
        loss.backward()
        if (i + 1) % accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()
"""

    def on_books(self, books: Books) -> Iterable[Draft]:
        """Look for lines whose measured losses are all undivided means."""
        for number, book in books.optimizers.items():
            if book.built is not None and book.built.divided_rate:
                continue
            for site, measured in measured_lines(book).items():
                windows = [m for m in measured if accumulates(m.window)]
                undivided = [m for m in windows if mean_times(m, 1.0)]
                if len(undivided) < len(windows) or not mostly(len(undivided), len(windows)):
                    continue
                size = max(regular_size(book), 2)
                if all(m.window.size != size for m in undivided):
                    size = undivided[-1].window.size
                whole = windows_of(book, site)
                yield Draft(
                    site=site,
                    message=f"adds {size} mean losses without dividing by {size}: "
                    f"the gradient is {size} times too large",
                    related=related((step_line(book), "applies the sum")),
                    remedy=f"divide each loss by the number of micro-batches: (loss / {size}).backward()",
                    detail=_detail,
                    optimizer=number,
                    count=whole.count,
                    first_step=whole.first,
                )


def _detail(numbers: Numbers) -> str:
    return f"{numbers.often}; every measured loss is a mean over its micro-batch and enters with the factor 1"
