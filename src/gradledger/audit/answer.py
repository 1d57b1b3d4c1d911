"""What an audit says at the end: the findings and what was looked at."""

from __future__ import annotations

from collections.abc import Iterable

from gradledger.ledger.record import dataclass, replace
from gradledger.rules.finding import Finding


@dataclass(frozen=True, slots=True)
class Checked:
    """How much was looked at."""

    backwards: int = 0
    steps: int = 0
    parameters: int = 0
    groups: int = 0
    """Sets of parameters whose gradients always moved together."""
    files: int = 0
    processes: int = 1


@dataclass(frozen=True, slots=True)
class Answer:
    """The findings of one front end over one run or one tree."""

    source: str
    """"static" or "runtime"."""
    findings: tuple[Finding, ...]
    checked: Checked
    notes: tuple[str, ...] = ()
    """What the reader must know besides: skipped files, a script that crashed, a recording cut short."""
    unread: tuple[str, ...] = ()
    """Those of the notes that tell of input which could not be read."""

    @property
    def fails(self) -> bool:
        """Whether a finding should fail the run."""
        return any(finding.fails for finding in self.findings)


def merge(answers: Iterable[Answer]) -> Answer:
    """One answer for the ranks of one run: equal findings become one that names its ranks."""
    first, *rest = list(answers)
    found = {_identity(finding): finding for finding in first.findings}
    for answer in rest:
        for finding in answer.findings:
            known = found.get(_identity(finding))
            found[_identity(finding)] = finding if known is None else _joined(known, finding)
    everyone = (first, *rest)
    checked = Checked(
        backwards=sum(a.checked.backwards for a in everyone),
        steps=sum(a.checked.steps for a in everyone),
        parameters=max(a.checked.parameters for a in everyone),
        groups=max(a.checked.groups for a in everyone),
        files=sum(a.checked.files for a in everyone),
        processes=sum(a.checked.processes for a in everyone),
    )
    notes = tuple(dict.fromkeys(note for a in everyone for note in a.notes))
    return Answer(first.source, tuple(found.values()), checked, notes)


def _identity(finding: Finding) -> tuple[str, str, int, str]:
    return finding.code, finding.site.path, finding.site.line, finding.certainty.value


def _joined(one: Finding, other: Finding) -> Finding:
    ranks = tuple(sorted({*one.ranks, *other.ranks}))
    counts = [count for count in (one.count, other.count) if count is not None]
    firsts = [step for step in (one.first_step, other.first_step) if step is not None]
    return replace(
        one,
        ranks=ranks,
        count=max(counts, default=None),
        first_step=min(firsts, default=None),
    )
