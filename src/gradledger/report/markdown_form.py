"""The answer as Markdown, to be read in a pull request."""

from __future__ import annotations

import re

from gradledger.audit.answer import Answer
from gradledger.audit.place import shown_place
from gradledger.ledger.record import replace
from gradledger.report.excerpt import excerpt
from gradledger.report.finding_text import ranks_text
from gradledger.report.plain import harmless, without_commands
from gradledger.report.repair_diff import diff
from gradledger.report.style import StreamFacts
from gradledger.report.summary import summary
from gradledger.rules.catalogue import find
from gradledger.rules.finding import Certainty, Finding

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|~@&]|^[#+-])")
_SIGNS = {"error": "❌", "warning": "⚠️", "performance": "🐢"}


def render(answer: Answer, facts: StreamFacts) -> str:
    """A heading with the verdict, a section for each finding, the notes."""
    sign = "✅" if not answer.findings else "❌" if answer.fails else "⚠️"
    parts = [f"## {sign} gradledger: {_words(summary(answer))}"]
    certain = [f for f in answer.findings if f.certainty is Certainty.CERTAIN]
    parts += [_finding(finding, facts) for finding in certain]
    possible = [f for f in answer.findings if f.certainty is Certainty.POSSIBLE]
    if possible:
        inner = "\n\n".join(_finding(finding, facts) for finding in possible)
        parts.append(f"<details><summary>{len(possible)} possible</summary>\n\n{inner}\n\n</details>")
    parts += [f"> {_words(note)}" for note in answer.notes]
    return "\n\n".join(parts) + "\n"


def _finding(finding: Finding, facts: StreamFacts) -> str:
    rule = find(finding.code)
    said = [finding.severity.value, ranks_text(finding.ranks)]
    head = f"### {_SIGNS[finding.severity.value]} {finding.code} {finding.name}"
    parts = [f"{head} ({', '.join(word for word in said if word)})"]
    place = _code(shown_place(finding.site, facts.cwd))
    parts.append(f"{place}: {_words(finding.message if rule is None else rule.summary)}")
    # The excerpt stands in a block of fixed width, whatever the terminal is.
    lines = excerpt(finding, replace(facts, width=100, colour=False))
    if lines:
        parts.append(_block(lines))
    parts += [_words(line) for line in finding.detail.splitlines() if line.strip()]
    remedy = finding.remedy or (finding.fix.description if finding.fix else "")
    if remedy:
        parts.append(f"**Fix:** {_words(remedy)}")
    change = diff(finding.fix, facts.cwd) if finding.fix else []
    if change:
        parts.append(_block([facts.plain(line) for line in change], "diff"))
    return "\n\n".join(parts)


def _words(text: str) -> str:
    """Prose in which nothing is markup; what stands between backquotes is code."""
    pieces = without_commands(" ".join(harmless(text).split())).split("`")
    if len(pieces) % 2 == 0:
        return _SPECIAL.sub(r"\\\1", "`".join(pieces))
    return "".join(_code(p) if n % 2 else _SPECIAL.sub(r"\\\1", p) for n, p in enumerate(pieces))


def _code(text: str) -> str:
    text = harmless(text)
    fence = "`" * (_longest(text) + 1)
    pad = " " if text[:1] == "`" or text[-1:] == "`" else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _block(lines: list[str], kind: str = "text") -> str:
    text = "\n".join(lines)
    fence = "`" * max(3, _longest(text) + 1)
    return f"{fence}{kind}\n{text}\n{fence}"


def _longest(text: str) -> int:
    """The longest row of backquotes."""
    return max(map(len, re.findall("`+", text)), default=0)
