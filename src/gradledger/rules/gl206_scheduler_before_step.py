"""GL206 scheduler-before-step."""

from __future__ import annotations

from collections.abc import Iterable

from gradledger.ledger.books import Books
from gradledger.rules.draft import Draft, fixed
from gradledger.rules.finding import Severity
from gradledger.rules.regularity import step_line, usual_advances
from gradledger.rules.rule import Rule
from gradledger.rules.wording import line, related, times


class SchedulerBeforeStep(Rule):
    """The scheduler advances before the optimizer has made its first step.

    What is wrong
        `scheduler.step()` comes before `optimizer.step()` in the iteration or the epoch, so the first value
        of the schedule is never used and each later one comes a turn too early.

    Why it stays silent
        torch warns once, in the midst of other output, and goes on. One value of a long schedule is hardly
        seen; with a step decay per epoch it is a whole epoch at the wrong rate.

    When to allow it
        When the schedule is shifted on purpose, for instance to resume a run at a given point.
    """

    code = "GL206"
    name = "scheduler-before-step"
    severity = Severity.WARNING
    summary = "scheduler.step() before optimizer.step() in the iteration: the first learning rate is skipped"
    static = "yes"
    runtime = "yes"
    yields_to = ("GL205",)
    bad = """\
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=5)
for x, y in loader:
    optimizer.zero_grad()
    loss_fn(model(x), y).backward()
    scheduler.step()  # <- here
    optimizer.step()
"""
    good = """\
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=5)
for x, y in loader:
    optimizer.zero_grad()
    loss_fn(model(x), y).backward()
    optimizer.step()
    scheduler.step()
"""

    def on_books(self, books: Books) -> Iterable[Draft]:
        """Look at each schedule's first advance."""
        for schedule in books.schedulers.values():
            built, early = schedule.built, schedule.before_any_step
            book = None if built is None else books.optimizers.get(built.optimizer)
            if built is None or book is None or early is None or not book.steps:
                continue
            if built.kind == "ReduceLROnPlateau" or early.explicit or schedule.early != 1:
                continue
            # With more advances than steps the schedule counts micro-batches, and the first have to be early.
            advances = schedule.stepped[early].count
            if usual_advances(schedule) > 1 or advances < 2:
                continue
            step = step_line(book)
            yield Draft(
                site=early.site,
                message="advances before the optimizer's first step: the first learning rate is never used",
                related=related((step, "steps only afterwards")),
                remedy=f"advance after the update: move this call below the step at {line(step, early.site)}",
                detail=fixed(f"all {times(advances, 'advance')} came one turn too early"),
                optimizer=built.optimizer,
                first_step=1,
            )
