"""GL104 unguarded-grad-access."""

from __future__ import annotations

from collections.abc import Iterable

from gradledger.ledger.books import Books
from gradledger.rules.draft import Draft, fixed
from gradledger.rules.finding import Severity
from gradledger.rules.rule import Rule


class UnguardedGradAccess(Rule):
    """A `.grad` is used as a tensor where it is still, or again, None.

    What is wrong
        `.grad` is None before the first `backward()`, after `zero_grad()` (which sets it to None unless told
        otherwise), and always on parameters that the loss does not reach. `p.grad.zero_()`, `p.grad.norm()`
        or `p.grad.data.clamp_()` fail there.

    Why it stays silent
        It does not: Python raises `'NoneType' object has no attribute ...`, which says nothing about
        gradients. Often it worked until a layer was frozen or an older default changed.

    When to allow it
        When the program catches the error and means to.
    """

    code = "GL104"
    name = "unguarded-grad-access"
    severity = Severity.ERROR
    summary = (
        "`p.grad.zero_()` and the like where `.grad` is None (before the first backward, "
        "after a set-to-none zero, on a parameter outside the graph)"
    )
    static = "only where None is certain"
    runtime = "explains the crash"
    bad = """\
for x, y in loader:
    for p in model.parameters():
        p.grad.zero_()  # <- here
    loss_fn(model(x), y).backward()
    optimizer.step()
"""
    good = """\
for x, y in loader:
    for p in model.parameters():
        if p.grad is not None:
            p.grad.zero_()
    loss_fn(model(x), y).backward()
    optimizer.step()
"""

    def on_books(self, books: Books) -> Iterable[Draft]:
        """Explain the crash."""
        for missing in books.missing:
            yield Draft(
                site=missing.site,
                message=f"`{missing.text}` is None here: not yet filled by a backward(), or cleared since",
                remedy=f"ask first: `if {missing.text} is not None:`; zero_grad() does so by itself",
                detail=fixed(
                    "`.grad` is None before the first backward(), after zero_grad(), "
                    "and on parameters that the loss does not depend on"
                ),
            )
