"""GL105 repeated-step."""

from __future__ import annotations

from collections.abc import Iterable

from gradledger.ledger.events import OptimizerStepped
from gradledger.ledger.window import Window
from gradledger.rules.draft import Draft
from gradledger.rules.finding import Certainty, Severity
from gradledger.rules.rule import Rule
from gradledger.rules.wording import line, related


class RepeatedStep(Rule):
    """A second step applies the same gradients again.

    What is wrong
        Between two calls of `step()` no `backward()` posted anything new, so the second call applies
        the very same gradients once more: the update is doubled, and momentum and Adam's averages count
        this batch twice.

    Why it stays silent
        A step does not use up the gradient: `.grad` stays as it was until somebody clears it.

    When to allow it
        When an algorithm really takes several steps along one gradient.
    """

    code = "GL105"
    name = "repeated-step"
    severity = Severity.ERROR
    summary = "a second step applies the same gradients again"
    static = "yes"
    runtime = "yes"
    yields_to = ("GL302", "GL101")
    bad = """\
for x, y in loader:
    optimizer.zero_grad()
    loss_fn(model(x), y).backward()
    optimizer.step()
    optimizer.step()  # <- here
"""
    good = """\
for x, y in loader:
    optimizer.zero_grad()
    loss_fn(model(x), y).backward()
    optimizer.step()
"""

    def on_window(self, window: Window) -> Iterable[Draft]:
        """Look for a step that finds only what an optimizer has applied."""
        step = window.step
        if step.optimizer is None or window.size:
            return
        for account in window.accounts:
            applied = account.applied
            if not account.stale or account.changed:
                continue
            if not isinstance(applied, OptimizerStepped) or applied.optimizer is None:
                continue
            same = applied.optimizer == step.optimizer
            first = line(applied.site, step.site)
            yield Draft(
                site=step.site,
                message=f"applies the gradients that the step at {first} has already applied",
                related=related((applied.site, "applies them the first time")),
                remedy=f"remove this step, or run a new backward() after the step at {first}",
                certainty=Certainty.CERTAIN if same else Certainty.POSSIBLE,
                optimizer=step.optimizer,
            )
            return
