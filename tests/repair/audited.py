"""Findings of the running program, as repairs take them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gradledger.ledger.site import Site
from gradledger.rules.finding import Certainty, Finding, Related, Severity
from tests.forked import Audit


def findings(done: Audit, script: Path) -> list[Finding]:
    """What the auditor found in this script, the most certain first."""
    found = [_finding(item, script) for item in done.answer["findings"]]
    return sorted(found, key=lambda finding: finding.certainty is not Certainty.CERTAIN)


def _finding(item: dict[str, Any], script: Path) -> Finding:
    related = tuple(Related(Site(_path(r, script), r["line"]), r["message"]) for r in item["related"])
    site = Site(_path(item, script), item["line"], item["column"], item["end_line"], item["end_column"])
    return Finding(
        item["code"],
        item["name"],
        Severity(item["severity"]),
        Certainty(item["certainty"]),
        site,
        item["message"],
        related,
    )


def _path(item: dict[str, Any], script: Path) -> str:
    return str(script) if Path(item["path"]).name == script.name else item["path"]
