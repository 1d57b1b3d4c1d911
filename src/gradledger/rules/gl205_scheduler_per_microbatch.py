"""GL205 scheduler-per-microbatch."""

from __future__ import annotations

from collections.abc import Iterable

from gradledger.ledger.books import Books
from gradledger.rules.draft import Draft, fixed
from gradledger.rules.finding import Certainty, Severity
from gradledger.rules.regularity import regular_size, step_line, usual_advances
from gradledger.rules.rule import Rule
from gradledger.rules.wording import line, related


class SchedulerPerMicrobatch(Rule):
    """The scheduler advances at every micro-batch while the optimizer steps once per window.

    What is wrong
        A schedule counts updates. Advanced at each micro-batch, it runs N times too fast: warm-up is over
        after a fraction of its updates, and the learning rate decays to its end early in the run.

    Why it stays silent
        The learning rate follows a curve of the right form, only compressed. Training slows down early,
        which looks like convergence.

    When to allow it
        When the schedule's lengths are counted in micro-batches.
    """

    code = "GL205"
    name = "scheduler-per-microbatch"
    severity = Severity.ERROR
    summary = "the scheduler advances per micro-batch while the optimizer steps per window"
    static = "yes"
    runtime = "yes"
    bad = """\
accumulate = 2
updates = len(loader) // accumulate
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=updates)
for i, (x, y) in enumerate(loader):
    loss = loss_fn(model(x), y) / accumulate
    loss.backward()
    if (i + 1) % accumulate == 0:
        optimizer.step()
        optimizer.zero_grad()
    scheduler.step()  # <- here
"""
    good = """\
accumulate = 2
updates = len(loader) // accumulate
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=updates)
for i, (x, y) in enumerate(loader):
    loss = loss_fn(model(x), y) / accumulate
    loss.backward()
    if (i + 1) % accumulate == 0:
        optimizer.step()
        optimizer.zero_grad()
        scheduler.step()
"""

    def on_books(self, books: Books) -> Iterable[Draft]:
        """Compare the schedulers' advances with the optimizers' windows."""
        for schedule in books.schedulers.values():
            built = schedule.built
            book = None if built is None else books.optimizers.get(built.optimizer)
            if built is None or book is None or built.per_batch or built.kind == "CyclicLR":
                continue
            advances = usual_advances(schedule)
            size = regular_size(book)
            if book.steps < 2 or advances < 2 or size < 2 or abs(advances - size) > 1:
                continue
            if schedule.between_steps[advances] < 0.6 * sum(schedule.between_steps.values()):
                continue  # now so many, now so many
            if all(event.explicit for event in schedule.stepped):
                continue
            if built.horizon is not None and built.horizon > 1.5 * book.steps:
                continue  # planned in micro-batches, or for a longer run
            total = sum(tally.count for tally in schedule.stepped.values())
            event = max(schedule.stepped, key=lambda stepped: schedule.stepped[stepped].count)
            if schedule.stepped[event].count <= book.steps:
                continue  # one line per update and another per epoch: none runs at every micro-batch
            step = step_line(book)
            planned = "" if built.horizon is None else f"; the schedule was planned for {built.horizon}"
            unknown = built.horizon is None and built.kind == "LambdaLR"
            yield Draft(
                site=event.site,
                message=f"advances the schedule {advances} times per update",
                related=related((step, "updates once per window")),
                remedy=f"call scheduler.step() once per update, right after {line(step, event.site)}",
                certainty=Certainty.POSSIBLE if unknown else Certainty.CERTAIN,
                detail=fixed(f"{total} advances for {book.steps} updates{planned}"),
                optimizer=built.optimizer,
                count=total,
                first_step=min(tally.first for tally in schedule.stepped.values()),
            )
