"""GL307 clip-inside-window."""

from __future__ import annotations

from collections.abc import Iterable

from gradledger.ledger.events import GradientsClipped
from gradledger.ledger.window import Window
from gradledger.rules.draft import Draft
from gradledger.rules.finding import Severity
from gradledger.rules.regularity import same_line
from gradledger.rules.rule import Rule
from gradledger.rules.wording import line, related


class ClipInsideWindow(Rule):
    """Partial sums are clipped at each micro-batch, and not the window's total.

    What is wrong
        Accumulation should give the update of one large batch: first the whole sum, then one clip. Clipping
        after each micro-batch shrinks what has been gathered so far again and again, so early micro-batches
        count less than late ones and the bound holds for no meaningful gradient.

    Why it stays silent
        Every gradient stays within the bound, as it should; only the weights of the micro-batches are off.

    When to allow it
        When each contribution is to be bounded by itself, as in differentially private training; that needs
        one gradient per sample, not the running sum.
    """

    code = "GL307"
    name = "clip-inside-window"
    severity = Severity.ERROR
    summary = "clipping partial sums at each micro-batch instead of the window's total"
    static = "yes"
    runtime = "yes"
    bad = """\
accumulate = 5
for i, (x, y) in enumerate(loader):
    loss = loss_fn(model(x), y) / accumulate
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # <- here
    if (i + 1) % accumulate == 0:
        optimizer.step()
        optimizer.zero_grad()
"""
    good = """\
accumulate = 5
for i, (x, y) in enumerate(loader):
    loss = loss_fn(model(x), y) / accumulate
    loss.backward()
    if (i + 1) % accumulate == 0:
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
"""

    def on_window(self, window: Window) -> Iterable[Draft]:
        """Look for clips that found only a part of what the step applies."""
        account, step = window.fullest, window.step
        if not same_line(window):
            return
        for clip in account.clips:
            if clip.scaled:
                continue  # GL301 tells of the worse mistake
            if isinstance(clip.event, GradientsClipped) and 0 < clip.found < account.waiting:
                yield Draft(
                    site=clip.event.site,
                    message=f"clips a partial sum: the step comes only after {account.waiting} micro-batches",
                    related=related(
                        (window.one_line, "adds one micro-batch after another"),
                        (step.site, "applies the total"),
                    ),
                    remedy=f"clip once per window, right before {line(step.site, clip.event.site)}, the step",
                    optimizer=step.optimizer,
                )
