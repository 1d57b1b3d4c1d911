"""Which source lines belong into the excerpt of a finding, and what is said beside each."""

from __future__ import annotations

from gradledger.audit.source import source_lines
from gradledger.ledger.record import dataclass, field
from gradledger.ledger.site import Site
from gradledger.rules.finding import Finding

LONGEST_STATEMENT = 4
"""A statement over more lines than this is shown only as its first and its last lines."""


@dataclass(slots=True)
class Shown:
    """One line of the excerpt."""

    line: int
    code: str
    remarks: list[tuple[str, str]] = field(default_factory=list)
    """Role ("label" for the finding itself, "related" for others) and text."""


@dataclass(frozen=True, slots=True)
class Extract:
    """The lines of one file (None: lines are left out there), and the remarks about other files."""

    lines: tuple[Shown | None, ...]
    elsewhere: tuple[tuple[Site, str, str, str], ...]
    """Site, code, role and remark."""


def extract(finding: Finding) -> Extract:
    """Collect the finding's line, the related lines and a little around them."""
    text = source_lines(finding.site.path, finding.site.cell)
    here: dict[int, Shown] = {}
    elsewhere: list[tuple[Site, str, str, str]] = []
    remarks = [(finding.site, "label", finding.message)]
    remarks += [(related.site, "related", related.message) for related in finding.related]
    for site, role, message in remarks:
        same_file = (site.path, site.cell) == (finding.site.path, finding.site.cell)
        if same_file and 1 <= site.line <= len(text):
            for line in _statement(site, len(text)):
                here.setdefault(line, Shown(line, text[line - 1]))
            if message and (role, message) not in here[site.line].remarks:
                here[site.line].remarks.append((role, message))
        else:
            lines = source_lines(site.path, site.cell)
            code = lines[site.line - 1].strip() if 1 <= site.line <= len(lines) else ""
            elsewhere.append((site, code, role, message))
    if finding.site.line in here:
        for line in _around(finding.site, text):
            here.setdefault(line, Shown(line, text[line - 1]))
    return Extract(_with_gaps(here, text), tuple(elsewhere))


def _statement(site: Site, last: int) -> list[int]:
    end = min(max(site.line, site.end_line), last)
    lines = list(range(site.line, end + 1))
    return lines if len(lines) <= LONGEST_STATEMENT else [*lines[:2], lines[-1]]


def _around(site: Site, text: tuple[str, ...]) -> list[int]:
    """The nearest line with text before and after the statement, if it is close."""
    end = max(site.line, site.end_line)
    before, after = (site.line - 1, site.line - 2), (end + 1, end + 2)
    near = [[n for n in side if 1 <= n <= len(text) and text[n - 1].strip()][:1] for side in (before, after)]
    return near[0] + near[1]


def _with_gaps(here: dict[int, Shown], text: tuple[str, ...]) -> tuple[Shown | None, ...]:
    shown: list[Shown | None] = []
    previous = 0
    for line in sorted(here):
        between = [n for n in range(previous + 1, line) if text[n - 1].strip()] if previous else []
        if len(between) == 1:  # a mark would take as much room as the line itself
            shown.append(Shown(between[0], text[between[0] - 1]))
        elif between:
            shown.append(None)
        shown.append(here[line])
        previous = line
    return tuple(shown)
