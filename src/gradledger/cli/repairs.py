"""Repairs for what a run has shown: those the checker proves for the same rule at the same line."""

from __future__ import annotations

from functools import lru_cache

from gradledger.audit.answer import Answer
from gradledger.audit.reach import content
from gradledger.ledger.record import replace
from gradledger.rules.finding import Finding, Fix

MOST = 8
"""More files than this are not looked at: the page is to be there soon."""
LARGEST = 400_000


def with_repairs(answer: Answer) -> Answer:
    """The same answer; a finding whose file still shows the mistake gets its repair."""
    paths = list(dict.fromkeys(f.site.path for f in answer.findings if f.fix is None))[:MOST]
    known: dict[tuple[str, str, int, int | None], Fix] = {}
    for path in paths:
        for finding in _checked(path):
            if finding.fix is not None:
                known[_place(finding)] = finding.fix
    if not known:
        return answer
    found = tuple(replace(f, fix=f.fix or known.get(_place(f))) for f in answer.findings)
    return replace(answer, findings=found)


def _place(finding: Finding) -> tuple[str, str, int, int | None]:
    return finding.code, finding.site.path, finding.site.line, finding.site.cell


def _checked(path: str) -> tuple[Finding, ...]:
    raw = content(path, LARGEST)
    return () if raw is None else _found(path, raw)


@lru_cache(maxsize=MOST)
def _found(path: str, raw: bytes) -> tuple[Finding, ...]:
    """A live page asks again and again."""
    from gradledger.checking.one_file import check_file

    return check_file(path, raw, None).findings
