"""Findings in the form in which pytest shows a failed assertion."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from _pytest._code.code import (
    ExceptionRepr,
    ReprEntry,
    ReprExceptionInfo,
    ReprFileLocation,
    ReprTraceback,
)

from gradledger.audit.answer import Answer
from gradledger.audit.source import source_lines
from gradledger.ledger.site import Site
from gradledger.report.plain import harmless
from gradledger.rules.finding import Finding

if TYPE_CHECKING:
    import pytest

FUNCTION = 24
"""A function whose beginning is farther away than this is not shown from its beginning."""
AROUND = 5


def failure(answer: Answer, config: pytest.Config) -> ExceptionRepr:
    """One entry for each finding: the source up to its line, and the finding in place of the exception."""
    folder = config.invocation_params.dir
    failing = [finding for finding in answer.findings if finding.fails]
    brief = config.getoption("tbstyle") in ("short", "line")
    entries = [_entry(finding, str(folder), brief=brief) for finding in failing]
    first = failing[0]
    message = f"{first.code} {first.name}: {harmless(first.message)}"
    crash = ReprFileLocation(_shown(first.site.path, str(folder)), first.site.line, message)
    return ReprExceptionInfo(ReprTraceback(entries, None, "short" if brief else "long"), crash)


def _entry(finding: Finding, folder: str, *, brief: bool) -> ReprEntry:
    site = finding.site
    said = [f"{finding.code} {finding.name}: {finding.message}"]
    said += [f"  {_place(related.site, folder)}: {related.message}" for related in finding.related]
    said += [line for line in finding.detail.splitlines() if line.strip()]
    said += [f"fix: {finding.remedy}"] if finding.remedy else []
    said += [f"gradledger explain {finding.code}"]
    source = _source(site)
    if brief:
        source = [f"    {line[4:].lstrip()}" for line in source[-1:]]
    indent = " " * (len(source[-1]) - len(source[-1][1:].lstrip()) - 4) if source else ""
    lines = [*source, *(f"E   {indent}{harmless(line)}" for line in said)]
    place = ReprFileLocation(_shown(site.path, folder), site.line, f"{finding.code} {finding.name}")
    return ReprEntry(lines, None, None, place, "short" if brief else "long")


def _source(site: Site) -> list[str]:
    """The function up to the line, or a few lines before it."""
    text = source_lines(site.path, site.cell)
    if not 1 <= site.line <= len(text):
        return []
    start = max(1, site.line - AROUND)
    for line in range(site.line - 1, max(0, site.line - FUNCTION), -1):
        if text[line - 1].lstrip().startswith((f"def {site.function}(", f"async def {site.function}(")):
            start = line
            break
    shown = [harmless(line.expandtabs(8).rstrip()) for line in text[start - 1 : site.line]]
    indent = min((len(line) - len(line.lstrip()) for line in shown if line), default=0)
    shown = [line[indent:] for line in shown]
    return [*(f"    {line}" for line in shown[:-1]), f">   {shown[-1]}"]


def _place(site: Site, folder: str) -> str:
    return f"{_shown(site.path, folder)}:{site.line}"


def _shown(path: str, folder: str) -> str:
    """The path as pytest shows paths: relative to where it was started."""
    try:
        return harmless(path if path.startswith("<") else os.path.relpath(path, folder))
    except ValueError:  # another drive
        return harmless(path)
