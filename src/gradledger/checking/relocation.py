"""Findings by lines of the program -> findings by the reader's cells and lines."""

from __future__ import annotations

import re

from gradledger.checking.document import Document
from gradledger.ledger.record import replace
from gradledger.ledger.site import Site
from gradledger.rules.finding import Edit, Finding, Fix

_LINE = re.compile(r"\bline (\d+)\b(?! of cell)")


def relocated(finding: Finding, document: Document, path: str) -> Finding:
    """The finding with each place of this file as the reader of the file counts it."""
    if document.place(1)[0] is None:
        return finding

    def worded(text: str) -> str:
        return _LINE.sub(lambda match: _words(document, int(match[1])), text)

    related = tuple(
        replace(other, site=_site(other.site, document, path), message=worded(other.message))
        for other in finding.related
    )
    return replace(
        finding,
        site=_site(finding.site, document, path),
        message=worded(finding.message),
        detail=worded(finding.detail),
        remedy=worded(finding.remedy),
        related=related,
        fix=None if finding.fix is None else _fix(finding.fix, document, path),
    )


def _words(document: Document, line: int) -> str:
    cell, inside = document.place(line)
    return f"line {inside} of cell {cell}"


def _site(site: Site, document: Document, path: str) -> Site:
    if site.path != path:
        return site
    cell, line = document.place(site.line)
    end = site.end_line - site.line + line if site.end_line else 0
    return replace(site, cell=cell, line=line, end_line=end)


def _fix(fix: Fix, document: Document, path: str) -> Fix:
    return replace(fix, edits=tuple(_edit(edit, document, path) for edit in fix.edits))


def _edit(edit: Edit, document: Document, path: str) -> Edit:
    if edit.path != path:
        return edit
    cell, line = document.place(edit.start[0])
    _, end = document.place(edit.end[0])
    return replace(edit, cell=cell, start=(line, edit.start[1]), end=(end, edit.end[1]))
