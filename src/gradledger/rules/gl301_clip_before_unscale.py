"""GL301 clip-before-unscale."""

from __future__ import annotations

from collections.abc import Iterable

from gradledger.ledger.events import GradientChanged, GradientsClipped
from gradledger.ledger.journal import Entry
from gradledger.rules.draft import Draft
from gradledger.rules.finding import Severity
from gradledger.rules.rule import Rule
from gradledger.rules.wording import related


class ClipBeforeUnscale(Rule):
    """Gradients are clipped while they are still multiplied by the GradScaler's scale.

    What is wrong
        `scaler.scale(loss)` multiplies all gradients by the scale, often tens of thousands, and only
        `scaler.unscale_()` or `scaler.step()` divides it out. A bound of 1.0 applied before that is really a
        bound of 1.0 divided by the scale: nearly every gradient is cut down to almost nothing.

    Why it stays silent
        The direction stays right and the scaler's own checks pass. Updates are tiny, and their size changes
        whenever the scale changes.

    When to allow it
        When the bound itself is multiplied by the scale.
    """

    code = "GL301"
    name = "clip-before-unscale"
    severity = Severity.ERROR
    summary = "gradients are clipped while still multiplied by the GradScaler's scale"
    static = "yes"
    runtime = "yes"
    bad = """\
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
for x, y in loader:
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    scaler.scale(loss).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # <- here
    scaler.step(optimizer)
    scaler.update()
"""
    good = """\
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
for x, y in loader:
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
"""

    def on_entry(self, entry: Entry) -> Iterable[Draft]:
        """Look for a clipping of what still carries a scale."""
        event, before = entry.event, entry.before
        match event:
            case GradientsClipped(only_measures=False, scaled_bound=False) | GradientChanged(clipping=True):
                if not before.fresh or before.scaled_by is None:
                    return
                scaled = next(p.site for p in before.postings() if p.ran.scaled_by is not None)
                yield Draft(
                    site=event.site,
                    message="clips gradients that are still multiplied by the gradient scaler's scale",
                    related=related((scaled, "its loss was multiplied by the scale")),
                    remedy="divide the scale out first: scaler.unscale_(optimizer) right before this line",
                )
