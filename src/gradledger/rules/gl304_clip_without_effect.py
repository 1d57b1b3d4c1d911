"""GL304 clip-without-effect."""

from __future__ import annotations

from collections.abc import Iterable

from gradledger.ledger.books import Books
from gradledger.rules.draft import Draft, fixed
from gradledger.rules.finding import Severity
from gradledger.rules.regularity import holder, mostly
from gradledger.rules.rule import Rule


class ClipWithoutEffect(Rule):
    """Clipping comes after the step, or before the backward() whose gradients it should bound.

    What is wrong
        Clipping changes the gradients that are there at that moment. After the step they have been used;
        before `backward()` they are empty or old. Either way the step applies unclipped gradients.

    Why it stays silent
        `clip_grad_norm_()` accepts whatever it finds, even nothing at all, and returns a norm. Nothing is
        missed until the one bad batch that clipping was meant to survive.

    When to allow it
        When only the returned norm is wanted; a bound of infinity measures without clipping.
    """

    code = "GL304"
    name = "clip-without-effect"
    severity = Severity.ERROR
    summary = "clipping after the step, or before the backward it should bound"
    static = "yes"
    runtime = "yes"
    yields_to = ("GL309", "GL102", "GL103", "GL106", "GL404")
    bad = """\
for x, y in loader:
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # <- here
"""
    good = """\
for x, y in loader:
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
"""

    def on_books(self, books: Books) -> Iterable[Draft]:
        """Look for clip calls that usually find nothing a step will use."""
        for event, clip in books.clips.items():
            if not mostly(clip.idle, clip.calls):
                continue
            yield Draft(
                site=event.site,
                message="clips after the step has applied the gradients"
                if clip.late
                else "clips before backward() has computed the gradients",
                remedy="move this call between backward() and the step",
                detail=fixed(f"{clip.idle} of {clip.calls} calls found nothing that a later step used"),
                optimizer=holder(books, event.accounts),
                count=clip.idle,
            )
