"""GL302 step-bypasses-scaler."""

from __future__ import annotations

from collections.abc import Iterable

from gradledger.ledger.window import Window
from gradledger.rules.draft import Draft
from gradledger.rules.finding import Severity
from gradledger.rules.rule import Rule
from gradledger.rules.wording import related


class StepBypassesScaler(Rule):
    """The loss was scaled, but the optimizer is stepped directly and not through the scaler.

    What is wrong
        The gradients still carry the GradScaler's scale, and `optimizer.step()` applies them as they are:
        the update is as many times too large as the scale. Only `scaler.step(optimizer)` divides the scale
        out and leaves out steps with Inf or NaN.

    Why it stays silent
        Adam divides gradients by their own size and hides the factor; with SGD the run diverges, which
        looks like a learning rate chosen too high.

    When to allow it
        When the scale has been divided out in another way that is not seen here.
    """

    code = "GL302"
    name = "step-bypasses-scaler"
    severity = Severity.ERROR
    summary = "loss was scaled, optimizer.step() is called directly"
    static = "yes"
    runtime = "yes"
    bad = """\
scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
for x, y in loader:
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    scaler.scale(loss).backward()
    optimizer.step()  # <- here
"""
    good = """\
scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
for x, y in loader:
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
"""

    def on_window(self, window: Window) -> Iterable[Draft]:
        """Look for a direct step on what still carries a scale."""
        step = window.step
        if step.scaler is not None or step.optimizer is None:
            return
        for account in window.accounts:
            if account.scaled_by is None or account.changed:
                continue
            scaled = next(p.site for p in account.postings() if p.ran.scaled_by is not None)
            yield Draft(
                site=step.site,
                message="applies gradients that are still multiplied by the gradient scaler's scale",
                related=related((scaled, "its loss was multiplied by the scale")),
                remedy="step through the scaler: scaler.step(optimizer), then scaler.update()",
                optimizer=step.optimizer,
            )
            return
