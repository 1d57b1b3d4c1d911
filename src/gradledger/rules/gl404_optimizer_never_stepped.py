"""GL404 optimizer-never-stepped."""

from __future__ import annotations

from collections.abc import Iterable

from gradledger.ledger.books import Books
from gradledger.ledger.site import Site
from gradledger.rules.draft import Draft, fixed
from gradledger.rules.finding import Severity
from gradledger.rules.outside import built_line
from gradledger.rules.rule import Rule
from gradledger.rules.wording import related, times


class OptimizerNeverStepped(Rule):
    """Gradients flow into an optimizer's parameters and are cleared, but nothing ever steps it.

    What is wrong
        With several optimizers, one `step()` was forgotten. Its parameters are given gradients, these are
        zeroed in time, and the parameters keep their initial values to the end of the run.

    Why it stays silent
        The rest of the model adapts to the part that stands still, and the loss falls.

    When to allow it
        When the optimizer is to be stepped only later, in a phase that this run did not reach.
    """

    code = "GL404"
    name = "optimizer-never-stepped"
    severity = Severity.ERROR
    summary = "gradients flow into an optimizer's parameters, it is zeroed, and nothing ever steps it"
    static = "when certain"
    runtime = "yes"
    bad = """\
head = nn.Linear(1, 1)
head_optimizer = torch.optim.SGD(head.parameters(), lr=0.01)  # <- here
for x, y in loader:
    optimizer.zero_grad()
    head_optimizer.zero_grad()
    loss_fn(head(model(x)), y).backward()
    optimizer.step()
"""
    good = """\
head = nn.Linear(1, 1)
head_optimizer = torch.optim.SGD(head.parameters(), lr=0.01)
for x, y in loader:
    optimizer.zero_grad()
    head_optimizer.zero_grad()
    loss_fn(head(model(x)), y).backward()
    optimizer.step()
    head_optimizer.step()
"""

    def on_books(self, books: Books) -> Iterable[Draft]:
        """Look for optimizers without any step at the end of a complete run."""
        if not books.ended or not books.complete:
            return
        refused = {event.optimizer for event in books.refused}
        holders = dict.fromkeys(balance.optimizer for balance in books.balances.values())
        for number in holders:
            book = books.optimizers.get(number)
            if number is None or number in refused or (book is not None and (book.steps or book.skipped)):
                continue
            held = dict(books.held_by(number))
            passes = sum(balance.backed for balance in held.values())
            cleared = max(balance.cleared_unused for balance in held.values())
            if passes < 3 or cleared < 2 or any(balance.steps for balance in held.values()):
                continue
            if any(balance.moved for balance in held.values()):
                continue  # the program moves them itself
            built, backward = built_line(books, number), _line_that_fills(books, set(held))
            most = max(balance.backed for balance in held.values())
            yield Draft(
                site=built or backward,
                message="is zeroed and its parameters receive gradients, but it is never stepped"
                if built
                else "fills the parameters of an optimizer that is zeroed but never stepped",
                related=related((backward, "fills its parameters' gradients")),
                remedy="call this optimizer's step() after the backward(), or freeze its parameters",
                detail=fixed(f"{times(most, 'pass')} into its parameters, {cleared} cleared unused, no step"),
                optimizer=number,
                count=cleared,
            )


def _line_that_fills(books: Books, held: set[int]) -> Site | None:
    lines = {site: tally.count for site, tally in books.passes.items() if held & tally.accounts}
    return max(lines, key=lambda site: lines[site], default=None)
