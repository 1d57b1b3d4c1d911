"""GL308 scaler-recreated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from gradledger.ledger.books import Books
from gradledger.ledger.site import Site
from gradledger.rules.draft import Draft, fixed
from gradledger.rules.finding import Severity
from gradledger.rules.rule import Rule


class ScalerRecreated(Rule):
    """A GradScaler is made anew in every turn of the loop.

    What is wrong
        A GradScaler finds a good scale over many steps: it lowers it after an overflow and raises it after
        long quiet. A new one forgets all that and starts again at the initial scale, so steps are left out
        again and again until it has come down, or small gradients keep vanishing.

    Why it stays silent
        Leaving out a step after an overflow is what a scaler does, and it says nothing about it.

    When to allow it
        When each turn of the loop is a training run of its own, as in a search over settings.
    """

    code = "GL308"
    name = "scaler-recreated"
    severity = Severity.WARNING
    summary = "a GradScaler is created inside the loop: its scale never adapts"
    static = "yes"
    runtime = "yes"
    yields_to = ("GL303",)
    bad = """\
for x, y in loader:
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)  # <- here
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
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
        """Count the scalers that one line made within a running loop."""
        lines: Counter[Site | None] = Counter()
        for scaler in books.scalers.values():
            if scaler.built is not None and scaler.built.inside_loop:
                lines[scaler.built.site] += 1
        for site, count in lines.items():
            # A new optimizer with each scaler is a new training (a fold, a trial), which is right.
            if count >= 2 and _one_training(books, site):
                yield Draft(
                    site=site,
                    message="makes a new gradient scaler in every turn of the loop: its scale never adapts",
                    remedy="create the scaler once, before the loop",
                    detail=fixed(f"{count + 1} scalers made by this line in one loop"),
                    count=count,
                )


def _one_training(books: Books, site: Site | None) -> bool:
    """Whether several scalers of this line stepped one and the same optimizer."""
    users: Counter[int] = Counter()
    for scaler in books.scalers.values():
        if scaler.built is not None and scaler.built.site == site:
            users.update({event.optimizer for event in scaler.stepped})
    return any(count >= 2 for count in users.values())
