"""Comments in the program that allow a finding: `# gradledger: allow[stale-gradient]`, `# noqa: GL101`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gradledger.audit.answer import Answer
from gradledger.audit.place import shown_place
from gradledger.audit.selector import nearest
from gradledger.audit.source import comments, source_lines
from gradledger.ledger.record import replace
from gradledger.ledger.site import Site
from gradledger.rules.catalogue import find
from gradledger.rules.finding import Finding

_COMMENT = r"(?i)#\s*gradledger\s*:\s*(?P<order>[^#]*)"
_ALLOW = r"(?i)allow\s*\[(?P<words>[^\]]*)\]"
_NOQA = (
    r"(?i)#\s*(?P<whole_file>(?:flake8|ruff)\s*:\s*)?noqa\b"
    r"(?P<listed>\s*:\s*(?P<codes>[a-z]+[0-9]+(?:(?:\s*,\s*|\s+)[a-z]+[0-9]+)*)?)?"
)
"""All compiled by `re` when the first comment is looked at: most files have no findings."""


def without_allowed(answer: Answer, cwd: str) -> Answer:
    """The answer without what the program allows, and with a note for each comment that allows nothing."""
    kept: list[Finding] = []
    notes: dict[str, None] = {}
    for finding in answer.findings:
        allowed = _waved_through(finding)
        for site in (finding.site, *(related.site for related in finding.related)):
            codes, complaints = _allowed_at(site, cwd)
            allowed = allowed or finding.code in codes
            notes.update(dict.fromkeys(complaints))
        if not allowed:
            kept.append(finding)
    fresh = tuple(note for note in notes if note not in answer.notes)
    return replace(answer, findings=tuple(kept), notes=(*answer.notes, *fresh))


def _waved_through(finding: Finding) -> bool:
    """Whether a `noqa` on the finding's own lines covers it, or one for the whole file (or cell)."""
    site = finding.site
    last = max(site.line, site.end_line)
    for line, comment in _comments(site).items():
        for order in re.finditer(_NOQA, comment):
            applies = order["whole_file"] is not None or site.line <= line <= last
            if applies and _covers(order, finding.code):
                return True
    return False


def _covers(order: re.Match[str], code: str) -> bool:
    if order["codes"] is None:
        return order["listed"] is None  # `noqa:` with words that are no codes covers nothing
    return code.startswith(tuple(re.split(r"[,\s]+", order["codes"].upper())))


def _allowed_at(site: Site, cwd: str) -> tuple[set[str], list[str]]:
    codes: set[str] = set()
    complaints: list[str] = []
    for line, comment in _comments_at(site):
        for order in re.finditer(_COMMENT, comment):
            words = _words(order["order"])
            place = shown_place(replace(site, line=line), cwd)
            if not words:
                complaints.append(
                    f"{place}: this comment allows nothing; write `# gradledger: allow[rule-name]`"
                )
            for word in words:
                rule = find(word)
                if rule is not None:
                    codes.add(rule.code)
                else:
                    near = nearest(word)
                    hint = f" (nearest: {', '.join(near)})" if near else ""
                    complaints.append(f"{place}: allow[{word}] names no rule{hint}")
    return codes, complaints


def _comments(site: Site) -> dict[int, str]:
    """All comments of the site's text; a text with none for us is not taken apart, which is slow."""
    lines = source_lines(site.path, site.cell)
    if any("noqa" in line or "gradledger" in line for line in map(str.lower, lines)):
        return comments(site.path, site.cell)
    return {}


def _comments_at(site: Site) -> Iterator[tuple[int, str]]:
    last = max(site.line, site.end_line)
    for line, comment in _comments(site).items():
        if site.line <= line <= last:
            yield line, comment


def _words(order: str) -> list[str]:
    return [
        word.strip()
        for allow in re.finditer(_ALLOW, order)
        for word in allow["words"].split(",")
        if word.strip()
    ]
