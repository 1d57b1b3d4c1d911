"""GL103 cleared-inside-window."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gradledger.ledger.account import Lost
from gradledger.ledger.books import Books, OptimizerBook
from gradledger.ledger.site import Site
from gradledger.ledger.window import Tally, Window
from gradledger.rules.draft import Draft
from gradledger.rules.finding import Certainty, Severity
from gradledger.rules.regularity import by_hand, mostly
from gradledger.rules.rule import Rule
from gradledger.rules.wasted import gathered, wasted
from gradledger.rules.wording import line, related, times


class ClearedInsideWindow(Rule):
    """Gradients are cleared at every micro-batch although the step comes only once per window.

    What is wrong
        The loop means to accumulate N micro-batches before each step, but `zero_grad()` runs at each of
        them. Only the last micro-batch reaches the step: the other N-1 are computed and thrown away, and
        where the loss is divided by N, SGD moves that much less, too.

    Why it stays silent
        Each step applies a valid gradient of one micro-batch. Training works as it would with small batches,
        at N times the cost.

    When to allow it
        Never on purpose; a loop that wants one micro-batch per step should compute only one.
    """

    code = "GL103"
    name = "cleared-inside-window"
    severity = Severity.ERROR
    summary = "zero_grad() runs every micro-batch, the step only every N: N-1 of N are thrown away"
    static = "yes"
    runtime = "yes"
    bad = """\
accumulate = 5
for i, (x, y) in enumerate(loader):
    optimizer.zero_grad()  # <- here
    loss = loss_fn(model(x), y) / accumulate
    loss.backward()
    if (i + 1) % accumulate == 0:
        optimizer.step()
"""
    good = """\
accumulate = 5
optimizer.zero_grad()
for i, (x, y) in enumerate(loader):
    loss = loss_fn(model(x), y) / accumulate
    loss.backward()
    if (i + 1) % accumulate == 0:
        optimizer.step()
        optimizer.zero_grad()
"""

    def on_books(self, books: Books) -> Iterable[Draft]:
        """Look for windows that lost entries of the very line that filled them."""
        for number, book in books.optimizers.items():
            for site, waste in gathered(_found(book)).items():
                if not mostly(waste.tally.count, book.steps, share=0.6):
                    continue
                window, step = waste.window, waste.window.step.site
                thrown = _thrown(window, site)
                whole = times(thrown + window.size, "micro-batch")
                yield Draft(
                    site=site,
                    message=f"throws away {thrown} of {whole} of each window",
                    related=related(
                        (window.one_line, "posts every micro-batch"), (step, "steps once per window")
                    ),
                    remedy="clear once per window: "
                    f"call zero_grad() only right after the step at {line(step, site)}",
                    certainty=Certainty.POSSIBLE if _sums_up(book) else Certainty.CERTAIN,
                    optimizer=number,
                    count=waste.tally.count,
                    first_step=waste.tally.first,
                )


def _sums_up(book: OptimizerBook) -> bool:
    """Whether the optimizer itself may keep what is cleared."""
    return book.built is not None and book.built.own_methods


def _found(book: OptimizerBook) -> Iterator[tuple[Window, Lost, Tally]]:
    for window, tally in book.windows.items():
        if window.empty or by_hand(window) or window.one_line is None:
            continue
        for lost in wasted(window.accounts):
            if lost.run.posting.site == window.one_line:
                yield window, lost, tally


def _thrown(window: Window, site: Site | None) -> int:
    """How many micro-batches the line cleared from one account of the window."""
    return max(
        sum(
            lost.run.count
            for lost in wasted([account])
            if lost.cleared.site == site and lost.run.posting.site == window.one_line
        )
        for account in window.accounts
    )
