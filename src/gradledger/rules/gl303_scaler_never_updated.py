"""GL303 scaler-never-updated."""

from __future__ import annotations

from collections.abc import Iterable

from gradledger.ledger.books import Books
from gradledger.ledger.site import Site
from gradledger.rules.draft import Draft, fixed
from gradledger.rules.finding import Severity
from gradledger.rules.rule import Rule
from gradledger.rules.wording import times


class ScalerNeverUpdated(Rule):
    """A GradScaler steps an optimizer, but its update() is never called in between.

    What is wrong
        `scaler.update()` lowers the scale after an overflow, raises it in quiet times, and closes the
        iteration. Without it the scale stays what it was at the start.

    Why it stays silent
        torch raises at the second `step()` of the same scaler and optimizer, with a message about update().
        It says nothing where the scaler or the optimizer is new each time, or the scaler is disabled:
        there the mistake waits for the day that mixed precision is switched on.

    When to allow it
        When a constant scale is meant; a plain factor says so more clearly.
    """

    code = "GL303"
    name = "scaler-never-updated"
    severity = Severity.ERROR
    summary = "scaler.step() without scaler.update()"
    static = "yes"
    runtime = "yes"
    bad = """\
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
for x, y in loader:
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)  # <- here
"""
    good = """\
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
for x, y in loader:
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
"""

    def on_books(self, books: Books) -> Iterable[Draft]:
        """Explain torch's refusal; where torch says nothing, count steps without any update."""
        refused = [event for event in books.refused if event.reason == "already-stepped"]
        for event in refused:
            yield Draft(
                site=event.site,
                message="steps again before scaler.update() has closed the step before: torch raises here",
                remedy="call scaler.update() after this line, once per iteration",
                detail=fixed("a gradient scaler steps each optimizer once between two updates"),
                optimizer=event.optimizer,
            )
        if refused or not books.ended:
            return
        for site, (count, optimizer) in _never_updated(books).items():
            if count >= 2:
                yield Draft(
                    site=site,
                    message="steps through a gradient scaler that is never updated: its scale cannot adapt",
                    remedy="call scaler.update() after this line, once per iteration",
                    detail=fixed(f"{times(count, 'step')} and no update"),
                    optimizer=optimizer,
                    count=count,
                )


def _never_updated(books: Books) -> dict[Site | None, tuple[int, int]]:
    lines: dict[Site | None, tuple[int, int]] = {}
    for scaler in books.scalers.values():
        if not scaler.updates:
            for event, tally in scaler.stepped.items():
                count, _ = lines.get(event.site, (0, event.optimizer))
                lines[event.site] = (count + tally.count, event.optimizer)
    return lines
