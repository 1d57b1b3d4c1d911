"""How much was audited in one run of pytest, in the last lines of its output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradledger.audit.answer import Answer
from gradledger.audit.place import shown_place
from gradledger.report.plain import harmless
from gradledger.rules.finding import Certainty, Finding
from gradledger.rules.wording import times

if TYPE_CHECKING:
    import pytest


def told(answer: Answer, cwd: str) -> dict[str, Any]:
    """What the controller of pytest-xdist needs to know of a test: plain data."""
    milder = [finding for finding in answer.findings if not finding.fails]
    return {
        "backwards": answer.checked.backwards,
        "steps": answer.checked.steps,
        "failing": len(answer.findings) - len(milder),
        "milder": [_line(finding, cwd) for finding in milder],
        "notes": list(answer.notes),
    }


def _line(finding: Finding, cwd: str) -> str:
    kind = "possible" if finding.certainty is Certainty.POSSIBLE else finding.severity.value
    return f"{finding.code} {finding.name} ({kind}) at {shown_place(finding.site, cwd)}: {finding.message}"


class Tally:
    """All audited tests together."""

    def __init__(self) -> None:
        self._tests = self._backwards = self._steps = self._failing = 0
        self._milder: dict[str, list[str]] = {}
        self._notes: dict[str, None] = {}

    def add(self, test: str, told: dict[str, Any]) -> None:
        """Count one test."""
        self._tests += 1
        self._backwards += told["backwards"]
        self._steps += told["steps"]
        self._failing += told["failing"]
        for line in told["milder"]:
            self._milder.setdefault(line, []).append(test)
        self._notes.update(dict.fromkeys(told["notes"]))

    def write(self, reporter: pytest.TerminalReporter) -> None:
        """Print the totals, then what fails no test."""
        reporter.section("gradledger")
        found = times(self._failing, "finding") if self._failing else "no finding that fails a test"
        reporter.line(
            f"audited {times(self._tests, 'test')} that trained: {times(self._backwards, 'backward pass')}, "
            f"{times(self._steps, 'step')}; {found}"
        )
        for line, tests in self._milder.items():
            more = f" and {times(len(tests) - 1, 'more test')}" if len(tests) > 1 else ""
            reporter.line(harmless(line))
            reporter.line(harmless(f"  in {tests[0]}{more}"))
        for note in self._notes:
            reporter.line(harmless(f"note: {note}"))
