"""GL207 divided-twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from gradledger.ledger.books import Books, OptimizerBook
from gradledger.ledger.window import Window
from gradledger.rules.draft import Draft, Numbers
from gradledger.rules.finding import Certainty, Severity
from gradledger.rules.measured import mean_times, measured_lines, windows_of
from gradledger.rules.regularity import mostly, regular_size, step_line
from gradledger.rules.rule import Rule
from gradledger.rules.wording import related


class DividedTwice(Rule):
    """The loss is divided by the window's length twice.

    What is wrong
        The loop divides each loss by N, and something else divides it by N again: Accelerate's
        `backward()`, Lightning's accumulation, a helper, a mean over the divided losses. The gradient
        of the window is N times too small.

    Why it stays silent
        It acts like a learning rate N times as low: training is slow, and nothing looks wrong.

    When to allow it
        When the factor is meant and only happens to be one over N squared.
    """

    code = "GL207"
    name = "divided-twice"
    severity = Severity.ERROR
    summary = (
        "the loss is divided by N by hand and again by the library "
        "(Accelerate's backward, `loss.mean()` over N)"
    )
    static = "yes"
    runtime = "when it can be told"
    bad = """\
accumulate = 5


def backward(loss):
    (loss / accumulate).backward()  # <- here


for epoch in range(3):
    for i, (x, y) in enumerate(loader):
        loss = loss_fn(model(x), y) / accumulate
        backward(loss)
        if (i + 1) % accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()
"""
    good = """\
accumulate = 5


def backward(loss):
    (loss / accumulate).backward()


for epoch in range(3):
    for i, (x, y) in enumerate(loader):
        loss = loss_fn(model(x), y)
        backward(loss)
        if (i + 1) % accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()
"""

    def on_window(self, window: Window) -> Iterable[Draft]:
        """A mean over N terms that were each divided by N."""
        for posting in window.postings():
            if posting.ran.averaged_twice:
                yield Draft(
                    site=posting.site,
                    message="takes the mean of N losses that were each divided by N before",
                    related=related((window.step.site, "applies a gradient N times too small")),
                    remedy="take the sum of the divided losses, or the mean of the undivided ones",
                    optimizer=window.step.optimizer,
                )
                return

    def on_books(self, books: Books) -> Iterable[Draft]:
        """Look for lines whose measured losses all enter with one over N squared."""
        for number, book in books.optimizers.items():
            size = regular_size(book)
            if size < 2:
                continue
            yield from self._divided_again(number, book, size)
            for site, measured in measured_lines(book).items():
                full = [m for m in measured if m.window.size == size]
                twice = [m for m in full if mean_times(m, 1 / size**2, tolerance=0.01)]
                if len(twice) < len(full) or not mostly(len(twice), len(full)):
                    continue
                whole = windows_of(book, site)
                yield Draft(
                    site=site,
                    message=f"adds {size} mean losses, each divided by {size} twice: "
                    f"the gradient is {size} times too small",
                    related=related((step_line(book), "applies the sum")),
                    remedy=f"divide by {size} once: remove the division by hand or that of the library",
                    # A quarter may as well be a half of a half: 0.5 * loss is common.
                    certainty=Certainty.CERTAIN if size > 2 else Certainty.POSSIBLE,
                    detail=_detail(size),
                    optimizer=number,
                    count=whole.count,
                    first_step=whole.first,
                )

    def _divided_again(self, number: int | None, book: OptimizerBook, size: int) -> Iterable[Draft]:
        """The loss divided by N, and the gradients by N once more."""
        for measured in book.measured:
            window = measured.window
            again = next((a.divided for a in window.accounts if a.divided is not None), None)
            if again is None or again.divided_by != size or window.size != size or window.one_line is None:
                continue
            if mean_times(measured, 1 / size, tolerance=0.01):
                yield Draft(
                    site=again.site or window.one_line,
                    message=f"divides by {size} gradients whose losses were divided by {size} already",
                    related=related(
                        (window.one_line, "differentiates a divided loss"), (window.step.site, "applies it")
                    ),
                    remedy=f"divide by {size} once: the losses or the gradients",
                    optimizer=number,
                    count=book.windows[window].count,
                    first_step=book.windows[window].first,
                )
                return


def _detail(size: int) -> Callable[[Numbers], str]:
    return lambda numbers: f"{numbers.often}; every measured mean loss enters with the factor 1/{size**2}"
