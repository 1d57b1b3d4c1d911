"""GL309 clip-other-parameters."""

from __future__ import annotations

from collections.abc import Iterable

from gradledger.ledger.books import Books
from gradledger.rules.draft import Draft, fixed
from gradledger.rules.finding import Severity
from gradledger.rules.regularity import mostly
from gradledger.rules.rule import Rule
from gradledger.rules.wording import line, related


class ClipOtherParameters(Rule):
    """The clipped parameters are not those that the step updates.

    What is wrong
        The clip names another model than the optimizer holds: the teacher, the target network, the other
        half of a GAN, or an iterator of parameters that has already been used up. The gradients that are
        applied have no bound at all.

    Why it stays silent
        Clipping parameters without gradients is legal and returns a norm of zero.

    When to allow it
        When the clipped gradients are used otherwise than by a step.
    """

    code = "GL309"
    name = "clip-other-parameters"
    severity = Severity.ERROR
    summary = "the clipped parameters are not those the step updates"
    static = "when certain"
    runtime = "yes"
    yields_to = ("GL403", "GL402", "GL106")
    bad = """\
teacher = nn.Sequential(nn.Linear(10, 32), nn.Tanh(), nn.Linear(32, 1))
for x, y in loader:
    optimizer.zero_grad()
    loss = loss_fn(model(x), y) + loss_fn(model(x), teacher(x).detach())
    loss.backward()
    nn.utils.clip_grad_norm_(teacher.parameters(), 1.0)  # <- here
    optimizer.step()
"""
    good = """\
teacher = nn.Sequential(nn.Linear(10, 32), nn.Tanh(), nn.Linear(32, 1))
for x, y in loader:
    optimizer.zero_grad()
    loss = loss_fn(model(x), y) + loss_fn(model(x), teacher(x).detach())
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
"""

    def on_books(self, books: Books) -> Iterable[Draft]:
        """Look for clip calls after which only other parameters are stepped."""
        for event, clip in books.clips.items():
            wasted = clip.wasted + (1 if clip.pending and clip.missed and books.ended else 0)
            if clip.used or not clip.others or not mostly(wasted, clip.calls):
                continue
            clipped = [books.balances[number] for number in event.accounts]
            # Between the others' backward() and their step it was meant for them, whatever it finds.
            meant_for_step = mostly(clip.straight, clip.calls) and (
                not clip.late or mostly(clip.astray, clip.calls)
            )
            if mostly(clip.idle, clip.calls) and any(b.steps for b in clipped) and not meant_for_step:
                continue  # the right parameters at the wrong moment: GL304
            if any(b.optimizer is not None and not b.steps for b in clipped):
                continue  # their own optimizer never applies anything: GL404 or GL106
            step = max(clip.others, key=lambda other: clip.others[other])
            yield Draft(
                site=event.site,
                message="clips parameters that no step updates; "
                f"the step at {line(step.site, event.site)} applies others, unclipped",
                related=related((step.site, "steps other parameters")),
                remedy=f"clip the parameters that the optimizer at {line(step.site, event.site)} holds",
                detail=fixed(f"{wasted} of {clip.calls} calls"),
                optimizer=step.optimizer,
                count=wasted,
            )
