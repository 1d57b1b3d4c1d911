"""What a rule says: plain data, the same for both front ends and every output form."""

from __future__ import annotations

from enum import Enum

from gradledger.ledger.record import dataclass, field
from gradledger.ledger.site import Site


class Severity(str, Enum):
    """How bad it is when the rule is right."""

    ERROR = "error"
    """The update is not what the code says it is."""
    WARNING = "warning"
    """Very likely the same."""
    PERFORMANCE = "performance"
    """Right, but wasteful."""


class Certainty(str, Enum):
    """How sure the rule is."""

    CERTAIN = "certain"
    POSSIBLE = "possible"


@dataclass(frozen=True, slots=True)
class Related:
    """Another line that takes part in the mistake, and what it does there."""

    site: Site
    message: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text from `start` to `end` (line and column, from 1) by `text`."""

    path: str
    start: tuple[int, int]
    end: tuple[int, int]
    text: str
    cell: int | None = None
    """The notebook cell whose lines are counted, or None in a plain file."""


@dataclass(frozen=True, slots=True)
class Fix:
    """A repair as data."""

    description: str
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """One mistake, at the line where the reader should look first."""

    code: str
    name: str
    severity: Severity
    certainty: Certainty
    site: Site
    message: str
    """What this line does wrong, short enough to stand beside it."""
    related: tuple[Related, ...] = ()
    detail: str = ""
    """The numbers: how often, how much, with which effect."""
    remedy: str = ""
    """What to do, in one sentence."""
    count: int | None = None
    """How often it happened (runtime only)."""
    first_step: int | None = None
    """The first optimizer step it spoiled, from 1 (runtime only)."""
    ranks: tuple[int, ...] = ()
    """The processes that saw it, when there were several."""
    fix: Fix | None = field(default=None)

    @property
    def fails(self) -> bool:
        """Whether this finding alone makes a run fail."""
        return self.certainty is Certainty.CERTAIN and self.severity is not Severity.PERFORMANCE
