"""What the scripts draw of a run, as plain data: timeline, curves, stages and the lines they speak of."""

from __future__ import annotations

from collections.abc import Iterable

from gradledger.report.page.story_data import story_data
from gradledger.report.replay.retelling import Retold
from gradledger.report.replay.states import NAMES
from gradledger.rules.finding import Certainty, Finding, Severity

_ORDER = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.PERFORMANCE: 2}


def ordered(findings: Iterable[Finding]) -> list[Finding]:
    """In the order in which a reader should see them."""
    return sorted(findings, key=_weight)


def ledger_data(retold: Retold, findings: list[Finding], places: list[int | None]) -> dict[str, object]:
    """All of it; `places` are the micro-batches where the findings show."""
    timeline = retold.timeline.data()
    marked = [
        {"code": finding.code, "name": finding.name, "at": at}
        for finding, at in zip(findings, places, strict=True)
        if at is not None
    ]
    return {
        "timeline": timeline,
        "states": NAMES,
        "findings": marked,
        **story_data(retold.story, retold.lines, detailed=retold.detailed),
        "lines": retold.lines.listed,  # last: the others number their lines while they are written
    }


def _weight(finding: Finding) -> tuple[bool, int, int]:
    """Certain before possible, grave before light, often before seldom."""
    possible = finding.certainty is Certainty.POSSIBLE
    return possible, _ORDER[finding.severity], -(finding.count or 0)
