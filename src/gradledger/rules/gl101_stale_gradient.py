"""GL101 stale-gradient."""

from __future__ import annotations

from collections.abc import Iterable

from gradledger.ledger.account import Account
from gradledger.ledger.books import Books, ClearTally
from gradledger.ledger.events import ClosureEvaluated, OptimizerStepped
from gradledger.ledger.record import replace
from gradledger.ledger.site import Site
from gradledger.ledger.window import Window
from gradledger.rules.draft import Draft, Numbers
from gradledger.rules.finding import Severity
from gradledger.rules.rule import Rule
from gradledger.rules.wording import line, related


class StaleGradient(Rule):
    """A step applies gradients that an earlier step has already applied.

    What is wrong
        `backward()` adds to `.grad`. Without a `zero_grad()` between two updates, the second step applies
        the new gradient plus the old one, the third the sum of three, and so on: the direction is that of
        all batches seen so far, and its length grows with the run.

    Why it stays silent
        The sum has the right shape and points roughly downhill, so the loss still falls, only worse and
        less steadily. Clipping and Adam hide the growing length, though not the wrong direction.

    When to allow it
        When gradients of earlier updates are meant to stay, as a hand-made kind of momentum.
    """

    code = "GL101"
    name = "stale-gradient"
    severity = Severity.ERROR
    summary = "a step applies gradients that an earlier step already applied (no zero_grad between)"
    static = "yes"
    runtime = "yes"
    yields_to = ("GL401",)
    bad = """\
for x, y in loader:
    loss = loss_fn(model(x), y)
    loss.backward()  # <- here
    optimizer.step()
"""
    good = """\
for x, y in loader:
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
"""

    def on_window(self, window: Window) -> Iterable[Draft]:
        """Look for new entries on top of applied ones."""
        if not window.size:
            return
        for account in window.accounts:
            applied = _own_earlier_step(account, window)
            if applied is None:
                continue
            fresh = next(account.postings(), None) or next(window.postings())
            after = line(applied.site, fresh.site)
            yield Draft(
                site=fresh.site,
                message=f"adds to gradients that the step at {after} has already applied",
                related=related(
                    (applied.site, "applies them, and nothing clears them afterwards"),
                    (window.step.site, "applies the old gradients again"),
                ),
                remedy="clear the gradients once per update: call zero_grad() before this backward(), "
                f"or right after the step at {after}",
                detail=_detail,
                optimizer=window.step.optimizer,
            )

    def refine(self, draft: Draft, books: Books) -> Draft | None:
        """Where a line was meant to clear and does not, that line is the place to look."""
        if draft.site is None:
            return draft
        for uncalled in books.uncalled:
            if uncalled.site is not None and uncalled.site.path == draft.site.path:
                return _moved(
                    draft,
                    uncalled.site,
                    f"names `{uncalled.text}` without calling it, so nothing is cleared",
                    f"call it: `{uncalled.text}()`",
                )
        owner = books.optimizers.get(draft.optimizer)
        if owner is not None and owner.cleared:
            return draft
        for site, clear in books.clears.items():
            if site is None or site.path != draft.site.path or clear.calls < 2:
                continue
            if _is_of_use(clear, books, draft.optimizer):
                continue
            return _moved(
                draft,
                site,
                "clears gradients that hold nothing, while those of the step are never cleared",
                "clear the gradients that the step applies: call zero_grad() of its optimizer here",
            )
        return draft


def _is_of_use(clear: ClearTally, books: Books, stepped: int | None) -> bool:
    """Whether it is not mistyped: it clears anything, or what another line clears or the step applies."""
    holders = {books.balances[account].optimizer for account in clear.accounts} - {None}
    return (
        clear.effective > 0
        or stepped in holders
        or any(books.optimizer(holder).cleared for holder in holders)
    )


def _own_earlier_step(account: Account, window: Window) -> OptimizerStepped | ClosureEvaluated | None:
    applied = account.applied
    if not account.stale or account.changed:
        return None
    if not isinstance(applied, (OptimizerStepped, ClosureEvaluated)):
        return None
    if applied.optimizer not in (None, window.step.optimizer):
        return None  # what another optimizer left behind is GL401
    return applied


def _moved(draft: Draft, site: Site, message: str, remedy: str) -> Draft:
    places = related((draft.site, "adds to gradients that are still there"))
    return replace(draft, site=site, message=message, remedy=remedy, related=(*places, *draft.related))


def _detail(numbers: Numbers) -> str:
    inside = numbers.stale + numbers.fresh
    were = "was" if numbers.stale == 1 else "were"
    text = (
        f"{numbers.often}; at the last one {numbers.stale} of the {inside} micro-batches "
        f"inside each gradient {were} old"
    )
    inside_norm, alone_norm = numbers.inside_norm, numbers.alone_norm
    if inside_norm is not None and alone_norm is not None and f"{inside_norm:.3g}" != f"{alone_norm:.3g}":
        when = "" if numbers.norm_step == numbers.last else f"measured at step {numbers.norm_step}: "
        text += f" ({when}norm {inside_norm:.3g} where this batch alone gives {alone_norm:.3g})"
    return text
