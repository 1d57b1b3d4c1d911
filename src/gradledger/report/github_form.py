"""The answer as workflow commands, which GitHub shows beside the lines of a pull request."""

from __future__ import annotations

from gradledger.audit.answer import Answer
from gradledger.audit.place import shown_path, slashed
from gradledger.audit.source import line_in_file
from gradledger.report.plain import harmless
from gradledger.report.style import StreamFacts
from gradledger.report.summary import summary
from gradledger.rules.finding import Certainty, Finding, Severity

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.PERFORMANCE: "notice"}


def render(answer: Answer, facts: StreamFacts) -> str:
    """One command for each finding and note, and the summary as the log's last line."""
    lines = [_command(finding, facts) for finding in answer.findings]
    lines += [f"::warning title=gradledger::{_data(note)}" for note in answer.notes]
    return "\n".join([*lines, facts.plain(summary(answer))]) + "\n"


def _command(finding: Finding, facts: StreamFacts) -> str:
    site = finding.site
    possible = finding.certainty is Certainty.POSSIBLE
    level = "notice" if possible else _LEVELS[finding.severity]
    where = {
        "file": slashed(shown_path(site.path, facts.cwd)),
        "line": str(line_in_file(site.path, site.line, site.cell)),
    }
    if site.cell is None:  # the columns of a notebook's JSON are not those of its cells
        where["col"] = str(site.column)
        if (site.end_line, site.end_column) > (site.line, site.column):
            where["endLine"] = str(site.end_line)
            # GitHub refuses columns of a command that spans lines
            if site.end_line == site.line:
                where["endColumn"] = str(site.end_column)
            else:
                del where["col"]
    where["title"] = f"{finding.code} {finding.name}{' (possible)' if possible else ''}"
    cell = "" if site.cell is None else f"cell {site.cell}, line {site.line}: "
    parts = [f"{cell}{finding.message}", *finding.detail.splitlines()]
    parts += [f"fix: {finding.remedy}"] if finding.remedy else []
    properties = ",".join(f"{name}={_property(value)}" for name, value in where.items())
    return f"::{level} {properties}::{_data(chr(10).join(part for part in parts if part))}"


def _data(text: str) -> str:
    """The text as a command takes it, without anything that the log's terminal would obey."""
    lines = (harmless(line) for line in text.replace("%", "%25").split("\n"))
    return "%0A".join(lines)


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
