"""GL106 step-without-gradient."""

from __future__ import annotations

from collections.abc import Iterable

from gradledger.ledger.books import Books
from gradledger.ledger.site import Site
from gradledger.rules.draft import Draft
from gradledger.rules.emptiness import barren_steps
from gradledger.rules.finding import Severity
from gradledger.rules.regularity import mostly
from gradledger.rules.rule import Rule
from gradledger.rules.wasted import robbed


class StepWithoutGradient(Rule):
    """A step finds no gradient on any of its parameters.

    What is wrong
        Nothing has reached the optimizer's parameters: `backward()` was forgotten, the loss was detached or
        rebuilt from numbers, the forward ran under `no_grad()`, or the optimizer holds another model.

    Why it stays silent
        `step()` skips every parameter whose `.grad` is None and returns. The loss is computed and printed
        all the same, and moves only because the batches differ.

    When to allow it
        When steps without gradients are planned, for instance to advance a schedule in a dry run.
    """

    code = "GL106"
    name = "step-without-gradient"
    severity = Severity.ERROR
    summary = "step() finds no gradient on any parameter (detached loss, wrong model, no backward)"
    static = "when certain"
    runtime = "yes"
    yields_to = ("GL102", "GL403", "GL402", "GL502")
    bad = """\
for x, y in loader:
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    optimizer.step()  # <- here
"""
    good = """\
for x, y in loader:
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
"""

    def on_books(self, books: Books) -> Iterable[Draft]:
        """Look for optimizers that hardly ever have anything to apply."""
        for number, book in books.optimizers.items():
            if number is None:
                continue
            for site, tally in barren_steps(book).items():
                if mostly(tally.count, book.steps, share=0.9) and (tally.count >= 2 or books.ended):
                    yield _draft(site, number, tally.count, tally.first)
        for refused in books.refused:
            accounts = [books.accounts[number] for number in refused.accounts]
            # What was taken away from this very step is GL102.
            if refused.reason == "no-gradients" and next(robbed(accounts), None) is None:
                since = " since they were cleared" if any(account.lost for account in accounts) else ""
                yield _draft(refused.site, refused.optimizer, 1, 0, since)


def _draft(site: Site | None, optimizer: int, count: int, first: int, since: str = "") -> Draft:
    return Draft(
        site=site,
        message="finds no gradient on any parameter: "
        f"no backward() has reached this optimizer's parameters{since}",
        remedy="call backward() before this step, on a loss computed from these parameters "
        "without detach(), .item() or no_grad() on the way",
        optimizer=optimizer,
        count=count,
        first_step=first,
    )
