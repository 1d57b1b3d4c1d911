"""The one line that says how much was looked at and what came of it."""

from __future__ import annotations

from gradledger.audit.answer import Answer, Checked
from gradledger.rules.finding import Certainty, Finding, Severity

NOTHING_TRAINED = "no training happened (no backward pass, no optimizer step)"


def summary(answer: Answer) -> str:
    """For example `audited 125 backward passes, 125 steps, 8 parameters in 2 groups: 1 error`."""
    if answer.source == "static":
        return f"checked {_count(answer.checked.files, 'file')}: {verdict(answer.findings)}"
    if answer.checked.backwards == 0 and answer.checked.steps == 0:
        found = f": {verdict(answer.findings)}" if answer.findings else ""
        return f"audited: {NOTHING_TRAINED}{found}"
    return f"audited {_amount(answer.checked)}: {verdict(answer.findings)}"


def verdict(findings: tuple[Finding, ...]) -> str:
    """The findings counted by kind, or `no findings`."""
    certain = [finding.severity for finding in findings if finding.certainty is Certainty.CERTAIN]
    possible = len(findings) - len(certain)
    kinds = [
        _count(certain.count(Severity.ERROR), "error"),
        _count(certain.count(Severity.WARNING), "warning"),
        _count(certain.count(Severity.PERFORMANCE), "performance finding"),
        f"{possible} possible",
    ]
    return ", ".join(kind for kind in kinds if not kind.startswith("0 ")) or "no findings"


def _amount(checked: Checked) -> str:
    parameters = _count(checked.parameters, "parameter")
    if checked.groups:
        parameters += f" in {_count(checked.groups, 'group')}"
    parts = [
        _count(checked.backwards, "backward pass", "backward passes"),
        _count(checked.steps, "step"),
        parameters,
    ]
    if checked.processes > 1:
        parts.append(f"in {_count(checked.processes, 'process', 'processes')}")
    return ", ".join(parts)


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
