"""The answer as HTML for a notebook's output: no scripts, no style sheet, readable on light and dark."""

from __future__ import annotations

from gradledger.audit.answer import Answer
from gradledger.audit.place import shown_place
from gradledger.report.extract import Shown, extract
from gradledger.report.finding_text import ranks_text
from gradledger.report.page.safe import code, text
from gradledger.report.summary import summary
from gradledger.rules.finding import Certainty, Finding

_COLOURS = {
    "error": "#d1443a",
    "warning": "#b7791f",
    "performance": "#2b7fb0",
    "possible": "#8662b3",
    "good": "#2f8f5b",
}
_MONO = "font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:12px"


def inline(answer: Answer, cwd: str) -> str:
    """All findings, the summary and the notes."""
    certain = [finding for finding in answer.findings if finding.certainty is Certainty.CERTAIN]
    possible = [finding for finding in answer.findings if finding.certainty is Certainty.POSSIBLE]
    parts = [_finding(finding, cwd) for finding in (*certain, *possible)]
    colour = "" if answer.findings else f"color:{_COLOURS['good']};"
    parts.append(f'<div style="{colour}font-weight:600">gradledger {text(summary(answer))}</div>')
    parts += [f'<div style="opacity:.75">note: {text(note)}</div>' for note in answer.notes]
    return f'<div class="gradledger" style="line-height:1.45;max-width:72em">{"".join(parts)}</div>'


def _finding(finding: Finding, cwd: str) -> str:
    possible = finding.certainty is Certainty.POSSIBLE
    kind = "possible" if possible else finding.severity.value
    colour = _COLOURS[kind]
    ranks = ranks_text(finding.ranks)
    tags = ", ".join(tag for tag in (finding.severity.value, "possible" if possible else "", ranks) if tag)
    told = [line for line in finding.detail.splitlines() if line.strip()]
    remedy = finding.remedy or (finding.fix.description if finding.fix else "")
    paragraphs = [f"<div>{text(line)}</div>" for line in told]
    if remedy:
        paragraphs.append(f"<div><b>fix:</b> {text(remedy)}</div>")
    return (
        f'<div style="border-left:3px solid {colour};padding:2px 0 2px 10px;margin:0 0 10px">'
        f'<div><b style="color:{colour}">{text(finding.code)} {text(finding.name)}</b> {text(tags)}'
        f' <span style="{_MONO};opacity:.75">{text(shown_place(finding.site, cwd))}</span></div>'
        f"{_excerpt(finding, cwd, colour)}{''.join(paragraphs)}</div>"
    )


def _excerpt(finding: Finding, cwd: str, colour: str) -> str:
    parts = extract(finding)
    shown = [line for line in parts.lines if line is not None]
    shared = min((len(s.code) - len(s.code.lstrip()) for s in shown if s.code.strip()), default=0)
    rows = [_row(line, shared, colour) for line in parts.lines]
    for site, words, role, remark in parts.elsewhere:
        number = text(shown_place(site, cwd))
        rows.append(_cells(number, code(words), _remark(role, remark, colour)))
    style = (
        f"{_MONO};border-collapse:collapse;margin:4px 0;color:inherit;background:transparent;text-align:left"
    )
    return f'<table style="{style}">{"".join(rows)}</table>'


def _row(line: Shown | None, shared: int, colour: str) -> str:
    if line is None:
        return _cells("⋮", "", "")
    remarks = " ".join(_remark(role, remark, colour) for role, remark in line.remarks)
    return _cells(str(line.line), code(line.code[shared:]), remarks)


def _remark(role: str, remark: str, colour: str) -> str:
    if not remark:
        return ""
    tone = f"color:{colour}" if role == "label" else "opacity:.75"
    return f'<span style="{tone}">◄ {text(remark)}</span>'


def _cells(number: str, words: str, remarks: str) -> str:
    """One row; its cells say everything themselves, because notebooks style tables."""
    cell = "text-align:left;vertical-align:top;color:inherit;background:transparent;border:0"
    return (
        '<tr style="background:transparent">'
        f'<td style="{cell};padding:0 8px 0 0;opacity:.55;white-space:nowrap">{number}</td>'
        f'<td style="{cell};padding:0 12px 0 0;white-space:pre">{words}</td>'
        f'<td style="{cell};padding:0">{remarks}</td></tr>'
    )
