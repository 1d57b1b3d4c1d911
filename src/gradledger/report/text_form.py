"""The answer for a person at a terminal."""

from __future__ import annotations

from gradledger.audit.answer import Answer
from gradledger.report.cells import wrap
from gradledger.report.finding_text import finding_text
from gradledger.report.style import StreamFacts
from gradledger.report.summary import summary
from gradledger.rules.finding import Certainty, Finding

POSSIBLE = "possible: not certain on what was seen, so these alone fail nothing"


def render(answer: Answer, facts: StreamFacts) -> str:
    """Certain findings, possible findings apart, the summary and the notes."""
    certain = [finding for finding in answer.findings if finding.certainty is Certainty.CERTAIN]
    possible = [finding for finding in answer.findings if finding.certainty is Certainty.POSSIBLE]
    blocks = [finding_text(finding, facts) for finding in certain]
    if possible:
        blocks.append(facts.paint("\n".join(wrap(POSSIBLE, facts.width)), "possible"))
        blocks += [finding_text(finding, facts) for finding in possible]
    last = [facts.paint(facts.plain(summary(answer)), "good" if not answer.findings else "code")]
    for note in (*_offer(certain), *answer.notes):
        lines = wrap(facts.prose(f"note: {note}"), facts.width, facts.width - 6)
        last += [("      " if number else "") + line for number, line in enumerate(lines)]
    return "\n\n".join([*blocks, "\n".join(last)]) + "\n"


def _offer(findings: list[Finding]) -> list[str]:
    """How much of it need not be repaired by hand."""
    count = sum(finding.fix is not None for finding in findings)
    if not count:
        return []
    which = "1 finding" if count == 1 else f"{count} findings"
    return [f"{which} can be repaired: gradledger check --diff shows how, --fix does it"]
