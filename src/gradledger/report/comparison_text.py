"""Two trainings side by side for the terminal: one with a mistake, one without."""

from __future__ import annotations

from collections.abc import Sequence

from gradledger.ledger.record import dataclass
from gradledger.report.cells import wrap
from gradledger.report.plot import Line, number, plot
from gradledger.report.style import StreamFacts

ROWS = 8


@dataclass(frozen=True, slots=True)
class Comparison:
    """What each step of both trainings did."""

    mistake: str
    meaning: str
    wrong_norms: tuple[float, ...]
    right_norms: tuple[float, ...]
    wrong_losses: tuple[float, ...]
    right_losses: tuple[float, ...]
    distances: tuple[float, ...]
    """Between the weights of both, after each step."""
    size: float
    """The norm of the right weights at the end."""


def comparison_text(comparisons: Sequence[Comparison], facts: StreamFacts) -> str:
    """A table and two plots for each mistake, and all of them at the end."""
    blocks = ["\n".join(_one(each, facts)) for each in comparisons]
    return "\n\n".join([*blocks, "\n".join(_all(comparisons, facts))]) + "\n"


def _one(each: Comparison, facts: StreamFacts) -> list[str]:
    lines = [facts.paint(each.mistake, "code"), *wrap(each.meaning, facts.width), ""]
    head = f"  {'':>5}  {'gradient norm':^19}  {'loss':^19}  {'distance':>9}"
    lines += [head, f"  {'step':>5}  {'wrong':>9} {'right':>9}  {'wrong':>9} {'right':>9}  {'(weights)':>9}"]
    for at in chosen_steps(len(each.distances)):
        lines.append(
            f"  {at + 1:>5}  {number(each.wrong_norms[at]):>9} {number(each.right_norms[at]):>9}"
            f"  {number(each.wrong_losses[at]):>9} {number(each.right_losses[at]):>9}"
            f"  {number(each.distances[at]):>9}"
        )
    steps = range(1, len(each.distances) + 1)
    for title, right, wrong in (
        ("gradient norm", each.right_norms, each.wrong_norms),
        ("loss", each.right_losses, each.wrong_losses),
    ):
        drawn = plot(
            [Line("right", steps, right), Line("wrong", steps, wrong)], facts, below="step", height=7
        )
        lines += ["", f"  {title}", *drawn]
    return lines


def chosen_steps(count: int) -> list[int]:
    """The first steps, where trainings part, and then ever fewer up to the last."""
    chosen = [0, 1, 2, 3]
    while len(chosen) < ROWS:
        chosen.append(chosen[-1] * 2 + 1)
    return [at for at in chosen if at < count - 1] + [count - 1]


def _all(comparisons: Sequence[Comparison], facts: StreamFacts) -> list[str]:
    width = max(len(each.mistake) for each in comparisons)
    lines = [facts.paint("Nothing crashed. What each mistake came to at the end:", "code"), ""]
    lines.append(
        f"  {'mistake':<{width}}  {'norm':>9} {'(right)':>9}  {'loss':>7} {'(right)':>7}  {'distance':>8}"
    )
    for each in comparisons:
        gap = each.distances[-1] / each.size
        wrong, right = number(mean(each.wrong_norms)), number(mean(each.right_norms))
        lines.append(
            f"  {each.mistake:<{width}}  {wrong:>9} {right:>9}"
            f"  {number(late(each.wrong_losses)):>7} {number(late(each.right_losses)):>7}  {gap:>8.0%}"
        )
    note = (
        "The norm is the mean of all steps, the loss that of the last tenth, the distance that between the "
        "weights, as a share of the right ones' norm."
    )
    return [*lines, "", *wrap(note, facts.width)]


def mean(values: Sequence[float]) -> float:
    """The mean of all steps."""
    return sum(values) / len(values)


def late(values: Sequence[float]) -> float:
    """The mean of the last tenth."""
    return mean(values[-max(1, len(values) // 10) :])
