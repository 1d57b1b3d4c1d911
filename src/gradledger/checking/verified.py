"""Findings -> findings with repairs, each proven by checking the repaired text again."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from gradledger.checking import program
from gradledger.checking.program import FindModule, Judged, ProgramError
from gradledger.ledger.record import replace
from gradledger.repair.apply import applied
from gradledger.repair.propose import proposals
from gradledger.repair.text_lines import split_lines
from gradledger.rules.finding import Certainty, Edit, Finding, Fix

Wanted = Callable[[str, Finding], bool]
"""(text, finding) -> whether its repair may be applied."""


def with_fixes(text: str, path: str, judged: Judged, find_module: FindModule | None = None) -> Judged:
    """The same findings, each with the first repair that removes it and brings no other."""
    findings = tuple(
        replace(finding, fix=_proven(text, path, judged, finding, find_module)) for finding in judged.findings
    )
    return replace(judged, findings=findings)


def _certain(_text: str, finding: Finding) -> bool:
    return finding.certainty is Certainty.CERTAIN


def fixed(
    text: str, path: str, find_module: FindModule | None = None, *, wanted: Wanted = _certain
) -> tuple[str, int]:
    """The text with all wanted findings repaired that can be, and how many that were."""
    count = 0
    judged = program.check_program(text, path, find_module)
    # Each round leaves one finding fewer, so their number bounds the rounds.
    for _ in range(len(judged.findings)):
        after = next(filter(None, _repaired(text, path, judged, find_module, wanted)), None)
        if after is None:
            break
        text, count = after, count + 1
        judged = program.check_program(text, path, find_module)
    return text, count


def _repaired(
    text: str, path: str, judged: Judged, find_module: FindModule | None, wanted: Wanted
) -> Iterable[str | None]:
    for finding in judged.findings:
        if wanted(text, finding):
            fix = _proven(text, path, judged, finding, find_module)
            yield None if fix is None else applied(text, fix.edits)


def _proven(
    text: str, path: str, judged: Judged, finding: Finding, find_module: FindModule | None
) -> Fix | None:
    if finding.site.path != path:
        return None
    for fix in proposals(finding, text):
        after = applied(text, fix.edits)
        try:
            result = program.check_program(after, path, find_module)
        except ProgramError:
            continue
        others = [other for other in judged.findings if other is not finding]
        if _all_known(result.findings, others, _Shift(text, after, path, fix.edits)):
            return fix
    return None


class _Shift:
    """Where the lines of a text are after some edits."""

    def __init__(self, before: str, after: str, path: str, edits: tuple[Edit, ...]) -> None:
        self._before, self._after = split_lines(before), split_lines(after)
        self._path = path
        self._edits = edits

    def same(self, old: Finding, new: Finding) -> bool:
        """Whether both findings say the same of the same line, wherever that line is now."""
        if (old.code, old.site.path) != (new.code, new.site.path):
            return False
        if old.certainty is Certainty.POSSIBLE and new.certainty is Certainty.CERTAIN:
            return False
        if new.site.path != self._path:
            return old.site.line == new.site.line
        if self._moved(old.site.line) == new.site.line:
            return True
        # A line that was moved is known by its text.
        there = self._after[new.site.line - 1].strip() if new.site.line <= len(self._after) else ""
        return bool(there) and self._before[old.site.line - 1].strip() == there

    def _moved(self, line: int) -> int:
        grown = 0
        for edit in self._edits:
            if edit.start < (line, 1) or edit.start == edit.end == (line, 1):
                grown += edit.text.count("\n") + edit.text.replace("\r\n", "\n").count("\r")
                grown -= min(edit.end[0], line) - edit.start[0]
        return line + grown


def _all_known(findings: Iterable[Finding], known: list[Finding], shift: _Shift) -> bool:
    """Whether every finding was there before the repair, each of the known ones at most once."""
    left = list(known)
    for finding in findings:
        match = next((old for old in left if shift.same(old, finding)), None)
        if match is None:
            return False
        left.remove(match)
    return True
