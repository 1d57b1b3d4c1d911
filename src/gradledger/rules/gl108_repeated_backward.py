"""GL108 repeated-backward."""

from __future__ import annotations

from collections.abc import Iterable

from gradledger.ledger.account import Account, Posting
from gradledger.ledger.site import Site
from gradledger.ledger.window import Window
from gradledger.rules.draft import Draft
from gradledger.rules.finding import Severity
from gradledger.rules.rule import Rule
from gradledger.rules.wording import line, related


class RepeatedBackward(Rule):
    """The same loss is differentiated twice into the same gradients before one step.

    What is wrong
        A first backward() adds a loss's gradients; a second one starts from a value that contains this very
        loss and adds them again. The step applies the first loss with twice its weight.

    Why it stays silent
        `retain_graph=True`, often added to silence torch's "backward through the graph a second time",
        permits the second pass; the result is a valid gradient of another objective.

    When to allow it
        When the double weight is meant; multiplying the loss by two says so more plainly.
    """

    code = "GL108"
    name = "repeated-backward"
    severity = Severity.ERROR
    summary = "the same graph is differentiated twice into the same gradients (retain_graph) before one step"
    static = "yes"
    runtime = "yes"
    bad = """\
for x, y in loader:
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward(retain_graph=True)
    total = loss + 1e-4 * sum(p.pow(2).sum() for p in model.parameters())
    total.backward()  # <- here
    optimizer.step()
"""
    good = """\
for x, y in loader:
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    total = loss + 1e-4 * sum(p.pow(2).sum() for p in model.parameters())
    total.backward()
    optimizer.step()
"""

    def on_window(self, window: Window) -> Iterable[Draft]:
        """Look for passes that contain an earlier pass of the same window."""
        for account in window.accounts:
            for posting in account.postings():
                first = posting.ran.repeats
                if first is None or not _still_there(account, posting, first):
                    continue
                at = line(first, posting.site)
                yield Draft(
                    site=posting.site,
                    message=f"differentiates again what the backward() at {at} has already added",
                    related=related(
                        (first, "adds these gradients the first time"),
                        (window.step.site, "applies the sum of both"),
                    ),
                    remedy=f"keep one of the two: remove the backward() at {at}, "
                    "or leave its loss out of the one differentiated here",
                    optimizer=window.step.optimizer,
                )


def _still_there(account: Account, posting: Posting, first: Site) -> bool:
    """Whether what the first pass added was not cleared before the second."""
    at_first = sum(run.count for run in account.fresh if run.posting.site == first)
    return at_first > (1 if posting.site == first else 0)
