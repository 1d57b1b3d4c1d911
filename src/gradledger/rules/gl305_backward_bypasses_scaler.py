"""GL305 backward-bypasses-scaler."""

from __future__ import annotations

from collections.abc import Iterable

from gradledger.ledger.books import Books
from gradledger.ledger.window import Window
from gradledger.rules.draft import Draft, fixed
from gradledger.rules.finding import Severity
from gradledger.rules.rule import Rule
from gradledger.rules.wording import line, related


class BackwardBypassesScaler(Rule):
    """The scaler's step divides gradients by a scale that was never multiplied in.

    What is wrong
        `scaler.step()` divides all gradients by the scale. Those of a loss that did not go through
        `scaler.scale()` become as many times too small as the scale: that loss hardly trains anything.

    Why it stays silent
        If no loss was ever scaled, torch stops with an assertion. If one of several losses was, everything
        runs, and the other losses simply vanish from the update.

    When to allow it
        When that loss was multiplied by `scaler.get_scale()` in a way that is not seen here.
    """

    code = "GL305"
    name = "backward-bypasses-scaler"
    severity = Severity.ERROR
    summary = "scaler.step() on gradients of an unscaled loss"
    static = "yes"
    runtime = "yes"
    bad = """\
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
for x, y in loader:
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    penalty = 1e-3 * sum(p.pow(2).sum() for p in model.parameters())
    scaler.scale(loss).backward()
    penalty.backward()
    scaler.step(optimizer)  # <- here
    scaler.update()
"""
    good = """\
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
for x, y in loader:
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    penalty = 1e-3 * sum(p.pow(2).sum() for p in model.parameters())
    scaler.scale(loss).backward()
    scaler.scale(penalty).backward()
    scaler.step(optimizer)
    scaler.update()
"""

    def on_window(self, window: Window) -> Iterable[Draft]:
        """Look for unscaled losses in a scaler's step."""
        step = window.step
        if step.scaler is None:
            return
        for account in window.accounts:
            if account.changed:
                continue
            for posting in account.postings():
                if posting.ran.scaled_by is None:
                    yield Draft(
                        site=step.site,
                        message="divides by the gradient scaler's scale what "
                        f"the backward() at {line(posting.site, step.site)} added unscaled",
                        related=related((posting.site, "its loss was not scaled")),
                        remedy="scale that loss as well: scaler.scale(loss).backward() "
                        f"at {line(posting.site, step.site)}",
                        optimizer=step.optimizer,
                    )
                    return

    def on_books(self, books: Books) -> Iterable[Draft]:
        """Explain torch's assertion."""
        for refused in books.refused:
            if refused.reason == "never-scaled":
                backward = next(
                    (p.site for number in refused.accounts for p in books.accounts[number].postings()), None
                )
                yield Draft(
                    site=refused.site,
                    message="steps through a gradient scaler that has scaled no loss: torch raises here",
                    related=related((backward, "its loss was not scaled")),
                    remedy="scale the loss first: scaler.scale(loss).backward()",
                    detail=fixed("a gradient scaler learns its scale's device when it scales the first loss"),
                    optimizer=refused.optimizer,
                )
