"""GL102 cleared-before-step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gradledger.ledger.account import Lost
from gradledger.ledger.books import Books, OptimizerBook
from gradledger.ledger.site import Site
from gradledger.ledger.window import Tally, Window
from gradledger.rules.draft import Draft
from gradledger.rules.finding import Severity
from gradledger.rules.regularity import by_hand, mostly
from gradledger.rules.rule import Rule
from gradledger.rules.wasted import gathered, robbed, wasted
from gradledger.rules.wording import line, related


class ClearedBeforeStep(Rule):
    """Gradients are cleared between the backward() and the step that should use them.

    What is wrong
        `zero_grad()` runs after `backward()` and before `step()`, so the step finds nothing, or only what
        a later loss put there. The loss whose gradients were cleared trains nothing.

    Why it stays silent
        A step without gradients is legal: parameters whose `.grad` is None are skipped, and zeros change
        little (momentum and weight decay even keep the weights moving).

    When to allow it
        When that backward() was only run to look at its gradients, for instance to log their norm.
    """

    code = "GL102"
    name = "cleared-before-step"
    severity = Severity.ERROR
    summary = "gradients are cleared between backward() and the step that should use them"
    static = "yes"
    runtime = "yes"
    bad = """\
for x, y in loader:
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.zero_grad()  # <- here
    optimizer.step()
"""
    good = """\
for x, y in loader:
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
"""

    def on_books(self, books: Books) -> Iterable[Draft]:
        """Look for windows from which a clearing took what the step was for."""
        for number, book in books.optimizers.items():
            for waste in gathered(_found(books, number, book)).values():
                if mostly(waste.tally.count, book.steps, share=0.5):
                    window = waste.window
                    yield _draft(waste.lost, window.step.site, number, waste.tally, empty=window.empty)
        for refused in books.refused:
            if refused.reason == "no-gradients":
                found = robbed(books.accounts[number] for number in refused.accounts)
                for lost in {lost.cleared.site: lost for lost in found}.values():
                    yield _draft(lost, refused.site, refused.optimizer, Tally(1), empty=True)


def _found(books: Books, number: int | None, book: OptimizerBook) -> Iterator[tuple[Window, Lost, Tally]]:
    # What fills only these may have been meant for an optimizer whose steps find nothing: GL106.
    missing = any(
        one != number and all(window.empty for window in other.windows) and other.steps
        for one, other in books.optimizers.items()
    )
    for window, tally in book.windows.items():
        kept = {posting.site for posting in window.postings()}
        empty = window.empty
        by_program = window.step.optimizer is None
        missed = robbed if empty else wasted
        for lost in missed(window.accounts, leaves=by_program):
            if empty:
                yield window, lost, tally
            elif (
                not missing
                and not by_hand(window)
                and lost.run.posting.site not in kept
                and _recurs(books, lost)
            ):
                reached = (books.balances[account].optimizer for account in lost.run.posting.ran.accounts)
                # A loss that also trains other parameters may have been meant for those alone.
                if all(optimizer in (None, number) for optimizer in reached):
                    yield window, lost, tally


def _recurs(books: Books, lost: Lost) -> bool:
    """Whether a loop throws these gradients away unread; a single pass only shows something.

    A pass that keeps its graph is one of several over the same forward: the next may be the one that counts.
    """
    ran = lost.run.posting.ran
    tally = books.passes.get(ran.site)
    return lost.cleared.unread and not ran.kept_graph and tally is not None and tally.count > 1


def _draft(lost: Lost, step: Site | None, optimizer: int | None, tally: Tally, *, empty: bool) -> Draft:
    site, backward = lost.cleared.site, lost.run.posting.site
    at, where = line(backward, site), line(step, site)
    message = (
        f"clears what the backward() at {at} posted before the step at {where} can use it"
        if empty
        else f"throws away the gradients of the backward() at {at} before the step at {where} can use them"
    )
    return Draft(
        site=site,
        message=message,
        related=related(
            (backward, "posts the gradients"),
            (step, "finds nothing to apply" if empty else "applies only what came later"),
        ),
        remedy=f"move this call: clear before the backward() at {at}, or after the step at {where}",
        optimizer=optimizer,
        count=tally.count,
        first_step=tally.first,
    )
