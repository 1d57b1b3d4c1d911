"""All that the rules say about programs with a mistake in them."""

from __future__ import annotations

from collections.abc import Callable

from gradledger.rules.finding import Finding
from tests.ledger_script import Script

PROGRAMS: dict[str, Callable[[], Script]] = {}


def program(write: Callable[[], Script]) -> Callable[[], Script]:
    PROGRAMS[write.__name__.replace("_", " ").strip()] = write
    return write


def said(script: Script) -> str:
    """Every word of the findings, and of which optimizer they speak."""
    return "\n".join(_finding(finding, script) for finding in script.end().findings) or "nothing"


def _finding(finding: Finding, script: Script) -> str:
    drafts = [s.draft for s in script.auditor._statements(script.books) if s.rule.code == finding.code]
    whose = {draft.optimizer for draft in drafts if draft.site == finding.site}
    lines = [
        f"{finding.site} {finding.code} {finding.certainty.value}, {finding.count} from {finding.first_step}",
        f"  of optimizer {', '.join(map(str, whose))}",
        f"  {finding.message}",
        f"  detail: {finding.detail}",
        f"  remedy: {finding.remedy}",
        *(f"  {related.site} {related.message}" for related in finding.related),
    ]
    return "\n".join(lines)
