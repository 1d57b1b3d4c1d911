"""One finding as text, the way an excellent compiler would put it."""

from __future__ import annotations

from collections.abc import Sequence

from gradledger.audit.place import shown_place
from gradledger.report.cells import cells, wrap
from gradledger.report.excerpt import excerpt
from gradledger.report.style import StreamFacts
from gradledger.rules.finding import Finding


def finding_text(finding: Finding, facts: StreamFacts) -> str:
    """Header, excerpt, numbers and remedy, without a line end at the end."""
    lines = [*_header(finding, facts), *excerpt(finding, facts)]
    via = f"reached through {finding.site.via}" if finding.site.via else ""
    for paragraph in (via, *finding.detail.splitlines()):
        if paragraph.strip():
            lines += ["  " + line for line in wrap(facts.prose(paragraph), facts.width - 2)]
    return "\n".join([*lines, *_remedy(finding, facts)])


def ranks_text(ranks: Sequence[int]) -> str:
    """The processes in words: `rank 1`, `ranks 0 and 1`, `ranks 0 to 7`."""
    if not ranks:
        return ""
    if len(ranks) == 1:
        return f"rank {ranks[0]}"
    if len(ranks) > 3 and list(ranks) == list(range(ranks[0], ranks[-1] + 1)):
        return f"ranks {ranks[0]} to {ranks[-1]}"
    return f"ranks {', '.join(map(str, ranks[:-1]))} and {ranks[-1]}"


def _header(finding: Finding, facts: StreamFacts) -> list[str]:
    code, name = facts.plain(finding.code), facts.plain(finding.name)
    severity, ranks = finding.severity.value, ranks_text(finding.ranks)
    tail = f"  {ranks}" if ranks else ""
    place = facts.plain(shown_place(finding.site, facts.cwd))
    painted = f"{facts.paint(f'{code} {name}', 'code')}  {facts.paint(severity, severity)}{tail}"
    room = facts.width - cells(f"{code} {name}  {severity}{tail}") - cells(place)
    if room < 2:
        return [painted, f"  {place}"]  # never cut: a place is there to be clicked on
    return [painted + " " * room + place]


def _remedy(finding: Finding, facts: StreamFacts) -> list[str]:
    remedy = finding.remedy or (finding.fix.description if finding.fix else "")
    more = facts.plain(f"gradledger explain {finding.code}")
    lines = wrap(facts.prose(f"fix: {remedy}"), facts.width - 2, facts.width - 7) if remedy else []
    lines = [("  " if number == 0 else "       ") + line for number, line in enumerate(lines)]
    room = facts.width - cells(more) - (cells(lines[-1]) if lines else 0)
    shown = facts.paint(more, "quiet")
    if lines and room >= 2:
        lines[-1] += " " * room + shown
    else:
        lines.append(" " * max(0, facts.width - cells(more)) + shown)
    if remedy:
        lines[0] = lines[0].replace("fix:", facts.paint("fix:", "fix"), 1)
    return lines
