"""GL203 unequal-weights."""

from __future__ import annotations

from collections.abc import Iterable

from gradledger.ledger.books import Books
from gradledger.ledger.window import MeasuredWindow
from gradledger.rules.draft import Draft, fixed
from gradledger.rules.finding import Certainty, Severity
from gradledger.rules.measured import all_times, measured_lines
from gradledger.rules.regularity import mostly, new_batches, step_line
from gradledger.rules.rule import Rule
from gradledger.rules.wording import related


class UnequalWeights(Rule):
    """Micro-batches of different size are averaged as if they were equal.

    What is wrong
        The mean of means is the overall mean only if every micro-batch has the same number of samples or
        tokens. Otherwise each sample of a small micro-batch weighs more than one of a large micro-batch,
        and the result is not the gradient of the large batch.

    Why it stays silent
        The loss looks the same, and the error changes with every window. With padded text it is large:
        token counts differ several-fold between micro-batches.

    When to allow it
        When every micro-batch is meant to count the same, whatever its size, as with one task each.
    """

    code = "GL203"
    name = "unequal-weights"
    severity = Severity.WARNING
    summary = "micro-batches of different size or token count are averaged as equals"
    static = "when certain"
    runtime = "yes"
    bad = """\
for x, y in loader:
    optimizer.zero_grad()
    for part in (slice(0, 2), slice(2, 8)):
        loss = loss_fn(model(x[part]), y[part]) / 2
        loss.backward()  # <- here
    optimizer.step()
"""
    good = """\
for x, y in loader:
    optimizer.zero_grad()
    for part in (slice(0, 2), slice(2, 8)):
        loss = loss_fn(model(x[part]), y[part]) * len(x[part]) / len(x)
        loss.backward()
    optimizer.step()
"""

    def on_books(self, books: Books) -> Iterable[Draft]:
        """Look for lines whose windows hold unlike means with like factors."""
        for number, book in books.optimizers.items():
            for site, measured in measured_lines(book).items():
                uneven = _uneven(measured)
                if len(uneven) < 2 or len(uneven) < 0.3 * len(measured):
                    continue
                counts = [count for window in uneven for count in _counts(window)]
                sizes = f"{min(counts):g} to {max(counts):g}"
                ratios = sorted(max(_counts(window)) / min(_counts(window)) for window in uneven)
                ratio = ratios[len(ratios) // 2]
                yield Draft(
                    site=site,
                    message=f"averages micro-batches of {sizes} samples or tokens as equals",
                    related=related((step_line(book), "applies the mean of the means")),
                    remedy="weight each loss by its share: multiply it by its number of samples or tokens "
                    "and divide by the window's total in place of the number of micro-batches",
                    certainty=Certainty.CERTAIN if ratio >= 1.5 else Certainty.POSSIBLE,
                    detail=fixed(
                        f"{len(uneven)} of {len(measured)} measured windows; a sample of the smallest "
                        f"micro-batch typically weighs {ratio:.3g} times as much as one of the largest"
                    ),
                    optimizer=number,
                    count=len(uneven),
                    first_step=min(window.step for window in uneven),
                )


def _uneven(measured: list[MeasuredWindow]) -> list[MeasuredWindow]:
    alike = [m for m in measured if _counts(m) and _averages_as_equals(m)]
    unlike = [m for m in alike if _differ(_counts(m))]
    short = [m for m in unlike if _only_last_is_short(_counts(m))]
    # A loader's last batch is short once per epoch, which is common practice; a split that is short
    # at the end of every window is not.
    if any(new_batches(m.window) for m in short) or not mostly(len(short), len(measured)):
        return [m for m in unlike if m not in short]
    return unlike


def _averages_as_equals(measured: MeasuredWindow) -> bool:
    """Whether each loss is a mean of its own, and none is given another factor than the rest."""
    reductions = {loss.reduction for loss in measured.losses}
    factor = measured.losses[0].factor
    # A sum divided by its own count is a mean, too; divided by the window's total, the counts would be equal.
    return reductions in ({"mean"}, {"masked"}) and factor is not None and all_times(measured, factor)


def _counts(measured: MeasuredWindow) -> list[float]:
    """How much each pass averaged over, if that is known of all."""
    counts = [loss.count for loss in measured.losses if loss.count is not None and loss.count > 0]
    return counts if len(counts) == len(measured.losses) else []


def _differ(counts: list[float]) -> bool:
    return max(counts) > 1.1 * min(counts)


def _only_last_is_short(counts: list[float]) -> bool:
    return not _differ(counts[:-1]) and counts[-1] == min(counts)
