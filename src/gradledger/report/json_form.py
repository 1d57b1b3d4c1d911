"""The answer for programs: a stable contract, the same for both front ends."""

from __future__ import annotations

import json

from gradledger._version import __version__
from gradledger.audit.answer import Answer
from gradledger.audit.place import shown_path, slashed
from gradledger.report.style import StreamFacts
from gradledger.rules.finding import Finding, Fix, Related

SCHEMA = 1


def render(answer: Answer, facts: StreamFacts) -> str:
    """One JSON object, in ASCII, so that every stream can take it."""
    return json.dumps(document(answer, facts.cwd), indent=2) + "\n"


def document(answer: Answer, cwd: str) -> dict[str, object]:
    """The answer as plain values."""
    checked = answer.checked
    amount = {"backwards": checked.backwards, "steps": checked.steps, "parameters": checked.parameters}
    return {
        "schema": SCHEMA,
        "tool": {"name": "gradledger", "version": __version__},
        "source": answer.source,
        "findings": [_finding(finding, cwd) for finding in answer.findings],
        "checked": {"files": checked.files} if answer.source == "static" else amount,
        "notes": list(answer.notes),
    }


def _finding(finding: Finding, cwd: str) -> dict[str, object]:
    site = finding.site
    known_end = (site.end_line, site.end_column) > (site.line, site.column)
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        "certainty": finding.certainty.value,
        "path": _path(site.path, cwd),
        "line": site.line,
        "column": site.column,
        "end_line": site.end_line if known_end else site.line,
        "end_column": site.end_column if known_end else site.column,
        "cell": site.cell,
        "message": finding.message,
        "detail": finding.detail,
        "remedy": finding.remedy,
        "related": [_related(related, cwd) for related in finding.related],
        "count": finding.count,
        "first_step": finding.first_step,
        "ranks": list(finding.ranks),
        "fix": None if finding.fix is None else _fix(finding.fix, cwd),
    }


def _related(related: Related, cwd: str) -> dict[str, object]:
    site = related.site
    where: dict[str, object] = {"path": _path(site.path, cwd), "line": site.line}
    return where | _cell(site.cell) | {"message": related.message}


def _fix(fix: Fix, cwd: str) -> dict[str, object]:
    edits = [
        {"path": _path(edit.path, cwd), "start": list(edit.start), "end": list(edit.end), "text": edit.text}
        | _cell(edit.cell)
        for edit in fix.edits
    ]
    return {"description": fix.description, "edits": edits}


def _cell(cell: int | None) -> dict[str, object]:
    """The cell, which only notebooks have."""
    return {} if cell is None else {"cell": cell}


def _path(path: str, cwd: str) -> str:
    return slashed(shown_path(path, cwd))
