"""A rule's statement before the numbers are in."""

from __future__ import annotations

from collections.abc import Callable

from gradledger.ledger.record import dataclass
from gradledger.ledger.site import Site
from gradledger.rules.finding import Certainty, Related


@dataclass(frozen=True, slots=True)
class Numbers:
    """How often and how much, when the run is over."""

    count: int
    first: int
    last: int
    steps: int
    """Steps of the optimizer in question, or of all."""
    stale: int = 0
    fresh: int = 0
    inside_norm: float | None = None
    alone_norm: float | None = None
    norm_step: int = 0
    """The step of the optimizer for which the norms were measured."""

    @property
    def often(self) -> str:
        """In words: "124 of 125 steps"."""
        if self.steps <= 1:
            return "at the only step"
        if self.count >= self.steps:
            return f"all {self.steps} steps"
        return f"{self.count} of {self.steps} steps"


def _often(numbers: Numbers) -> str:
    return numbers.often


def fixed(text: str) -> Callable[[Numbers], str]:
    """A detail that the rule knows already."""
    return lambda _: text


@dataclass(frozen=True, slots=True)
class Draft:
    """One mistake at one line; drafts of one rule at one line become one finding."""

    site: Site | None
    message: str
    related: tuple[Related, ...] = ()
    remedy: str = ""
    certainty: Certainty = Certainty.CERTAIN
    detail: Callable[[Numbers], str] = _often
    optimizer: int | None = None
    """The optimizer whose update is wrong: of several rules that explain it, the most specific speaks."""
    count: int | None = None
    """How often, where the rule counted itself."""
    first_step: int | None = None
