"""One finding as HTML: what is wrong, on which lines, how often, and what to do."""

from __future__ import annotations

from gradledger.audit.place import shown_place
from gradledger.report.extract import Shown, extract
from gradledger.report.finding_text import ranks_text
from gradledger.report.page.explained import explained, prose
from gradledger.report.page.safe import code, text
from gradledger.report.repair_diff import diff
from gradledger.rules.catalogue import find
from gradledger.rules.finding import Certainty, Finding


def finding_card(finding: Finding, number: int, at: int | None, cwd: str) -> str:
    """The card; its button leads to the micro-batch where the finding first shows in the timeline."""
    possible = finding.certainty is Certainty.POSSIBLE
    kind = "possible" if possible else finding.severity.value
    rule = find(finding.code)
    summary = finding.message if rule is None else rule.summary
    ranks = ranks_text(finding.ranks)
    tags = [finding.severity.value, "possible" if possible else "", ranks]
    badges = "".join(f'<span class="tag">{text(tag)}</span>' for tag in tags if tag)
    go = (
        ""
        if at is None
        else (
            f'<button type="button" class="go" data-at="{at}">Show in the timeline'
            f"<span> at micro-batch {at:,}</span></button>"
        )
    )
    return (
        f'<article class="finding {kind}" id="finding-{number}" aria-labelledby="finding-{number}-title">'
        f'<header><span class="code">{text(finding.code)}</span>'
        f'<span class="name">{text(finding.name)}</span>{badges}'
        f'<span class="place">{text(shown_place(finding.site, cwd))}</span></header>'
        f'<h3 id="finding-{number}-title">{prose(_sentence(summary))}</h3>'
        f"{_excerpt(finding, cwd)}"
        f"{_numbers(finding)}"
        f"{_remedy(finding, cwd)}"
        f"<footer>{go}<details><summary>Explain {text(finding.code)}</summary>"
        f"{explained(finding.code)}</details></footer></article>"
    )


def _excerpt(finding: Finding, cwd: str) -> str:
    parts = extract(finding)
    shown = [line for line in parts.lines if line is not None]
    shared = min((len(s.code) - len(s.code.lstrip()) for s in shown if s.code.strip()), default=0)
    rows = [_row(line, shared) for line in parts.lines]
    for site, words, role, message in parts.elsewhere:
        place = text(shown_place(site, cwd))
        remark = f'<span class="remark {role}">{prose(message)}</span>' if message else ""
        rows.append(
            f'<li class="line elsewhere {role}"><span class="no">{place}</span>'
            f"<code>{code(words)}</code>{remark}</li>"
        )
    return f'<ol class="excerpt" aria-label="The lines involved">{"".join(rows)}</ol>'


def _row(line: Shown | None, shared: int) -> str:
    if line is None:
        return '<li class="line gap" aria-label="lines left out"><span class="no">⋮</span></li>'
    role = line.remarks[0][0] if line.remarks else "plain"
    remarks = "".join(f'<span class="remark {r}">{prose(message)}</span>' for r, message in line.remarks)
    return (
        f'<li class="line {role}"><span class="no">{line.line}</span>'
        f"<code>{code(line.code[shared:])}</code>{remarks}</li>"
    )


def _numbers(finding: Finding) -> str:
    via = [f"reached through {finding.site.via}"] if finding.site.via else []
    told = [*via, *(line for line in finding.detail.splitlines() if line.strip())]
    return "".join(f'<p class="numbers">{prose(_sentence(line))}</p>' for line in told)


def _remedy(finding: Finding, cwd: str) -> str:
    remedy = finding.remedy or (finding.fix.description if finding.fix else "")
    parts = [f"<p>{prose(_sentence(remedy))}</p>"] if remedy else []
    lines = diff(finding.fix, cwd) if finding.fix else []
    if lines:
        rows = "".join(f'<span class="{_change(line)}">{code(line)}</span>' for line in lines[2:])
        parts.append(f'<pre class="diff" aria-label="The repair as a diff">{rows}</pre>')
    return f'<div class="remedy"><h4>The fix</h4>{"".join(parts)}</div>' if parts else ""


def _change(line: str) -> str:
    return {"+": "added", "-": "removed", "@": "hunk"}.get(line[:1], "same")


def _sentence(words: str) -> str:
    name = words.split(" ", 1)[0]
    if "(" in name or "_" in name or "`" in name:  # a name of the program keeps its case
        return words + ("" if words[-1:] in ".!?" else ".")
    return words[:1].upper() + words[1:] + ("" if words[-1:] in ".!?" else ".")
