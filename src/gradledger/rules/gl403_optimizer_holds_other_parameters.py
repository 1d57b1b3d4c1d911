"""GL403 optimizer-holds-other-parameters."""

from __future__ import annotations

from collections.abc import Iterable

from gradledger.ledger.books import Books, OptimizerBook
from gradledger.ledger.site import Site
from gradledger.rules.draft import Draft, fixed
from gradledger.rules.emptiness import barren, barren_steps
from gradledger.rules.finding import Severity
from gradledger.rules.outside import built_line, outside
from gradledger.rules.rule import Rule
from gradledger.rules.wording import related, times


class OptimizerHoldsOtherParameters(Rule):
    """The optimizer still holds parameters that the trained model has replaced.

    What is wrong
        An optimizer keeps the tensors it was built from. If the model is rebuilt, copied, re-initialised,
        resized or wrapped by a parametrisation afterwards, new parameters take their place; the optimizer
        goes on updating the old ones, which no model uses any more.

    Why it stays silent
        The old tensors live on inside the optimizer. They get no gradient, and a step leaves out what has
        none.

    When to allow it
        When the optimizer is kept for its state only and not expected to train the model.
    """

    code = "GL403"
    name = "optimizer-holds-other-parameters"
    severity = Severity.ERROR
    summary = "the optimizer was built from parameters that are not the trained model's any more"
    static = "when certain"
    runtime = "yes"
    bad = """\
net = nn.Linear(10, 1)
net_optimizer = torch.optim.SGD(net.parameters(), lr=0.01)  # <- here
net = nn.Linear(10, 1)
for x, y in loader:
    net.zero_grad()
    loss_fn(net(x), y).backward()
    net_optimizer.step()
"""
    good = """\
net = nn.Linear(10, 1)
net_optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for x, y in loader:
    net.zero_grad()
    loss_fn(net(x), y).backward()
    net_optimizer.step()
"""

    def on_books(self, books: Books) -> Iterable[Draft]:
        """Look for optimizers of orphans beside parameters that nobody updates."""
        if not books.ended:
            return
        forgotten = {number for number, _ in outside(books)}
        if not forgotten:
            return
        for number, book in books.optimizers.items():
            held = dict(books.held_by(number))
            orphans = [balance for balance in held.values() if balance.orphaned]
            if not orphans and _steps_on_nothing(book) and _once_fed(book):
                # The old model still lives somewhere, but its place in the training was taken.
                orphans = list(held.values())
            if number is None or not orphans:
                continue
            whole = len(orphans) == len(held) and _steps_on_nothing(book)
            backward = _line_that_reaches(books, forgotten, set() if whole else set(held))
            if not whole and backward is None:
                continue
            size = sum(balance.size for balance in orphans)
            built = built_line(books, number)
            yield Draft(
                site=built or backward,
                message="was built from parameters that the model has since replaced"
                if built
                else "fills parameters that no optimizer holds, only the ones they replaced",
                related=related((backward, "fills the new parameters, which no optimizer holds")),
                remedy="build the optimizer after the model has its final parameters, or build a new one",
                detail=fixed(f"{times(size, 'parameter')} in the optimizer belong to no model any more"),
                optimizer=number,
                count=sum(tally.count for tally in barren_steps(book).values()) or book.steps,
            )


def _steps_on_nothing(book: OptimizerBook) -> bool:
    """Whether the optimizer's latest steps, two at least, found nothing."""
    empty = sum(tally.count for tally in barren_steps(book).values())
    return empty >= 2 and barren(book.sequence.runs[-1][0])


def _once_fed(book: OptimizerBook) -> bool:
    """Whether earlier steps did find gradients."""
    return any(not barren(window) for window in book.windows)


def _line_that_reaches(books: Books, forgotten: set[int], mates: set[int]) -> Site | None:
    """A backward() line that fills forgotten parameters, and some of the mates if there are any."""
    for site, tally in books.passes.items():
        if forgotten & tally.accounts and (not mates or mates & tally.accounts):
            return site
    return None
