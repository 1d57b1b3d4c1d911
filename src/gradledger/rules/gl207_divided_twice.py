"""GL207 divided-twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from gradledger.ledger.books import Books
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


for i, (x, y) in enumerate(loader):
    loss = loss_fn(model(x), y)
    backward(loss)
    if (i + 1) % accumulate == 0:
        optimizer.step()
        optimizer.zero_grad()
"""

    def on_books(self, books: Books) -> Iterable[Draft]:
        """Look for lines whose measured losses all enter with one over N squared."""
        for number, book in books.optimizers.items():
            size = regular_size(book)
            if size < 2:
                continue
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


def _detail(size: int) -> Callable[[Numbers], str]:
    return lambda numbers: f"{numbers.often}; every measured mean loss enters with the factor 1/{size**2}"
