"""What came of one file, and of all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradledger.ledger.record import dataclass

if TYPE_CHECKING:
    from gradledger.checking.problem import Problem
    from gradledger.rules.finding import Finding


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one file."""

    path: str
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What came of all files: those of which there is something to say, in order, and how many were seen."""

    files: int
    each: tuple[Outcome, ...]

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All files that could not be checked."""
        return tuple(problem for outcome in self.each for problem in outcome.problems)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, each once: two programs may have been read with the same neighbour."""
        found: dict[tuple[object, ...], Finding] = {}
        for outcome in self.each:
            for finding in outcome.findings:
                found.setdefault((finding.code, finding.certainty, finding.site), finding)
        return tuple(found.values())
