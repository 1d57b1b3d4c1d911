"""The static checker as a flake8 plugin: certain findings, under their own codes."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Sequence

from gradledger._version import __version__
from gradledger.audit.answer import Answer, Checked
from gradledger.audit.source import hold, release
from gradledger.audit.suppress import without_allowed
from gradledger.checking.neighbours import Neighbours
from gradledger.checking.program import ProgramError, check_program
from gradledger.rules.finding import Certainty, Finding


class Checker:
    """What flake8 creates for each file; `noqa` and the choice of codes are flake8's business."""

    name = "gradledger"
    version = __version__

    def __init__(self, tree: ast.AST, filename: str, lines: Sequence[str]) -> None:
        self._path = "<stdin>" if filename in ("-", "stdin") else os.path.abspath(filename)
        self._text = "".join(lines).replace("\r\n", "\n").replace("\r", "\n")

    def run(self) -> Iterator[tuple[int, int, str, type[Checker]]]:
        """Line, column from 0 and text of each finding."""
        for finding in self._findings() if "backward" in self._text else ():
            remedy = f"; {finding.remedy}" if finding.remedy else ""
            text = f"{finding.code} {finding.name}: {finding.message}{remedy}"
            yield finding.site.line, max(0, finding.site.column - 1), text, type(self)

    def _findings(self) -> tuple[Finding, ...]:
        cwd = os.getcwd()
        try:
            judged = check_program(self._text, self._path, Neighbours(cwd))
        except (ProgramError, RecursionError, MemoryError):  # flake8 tells of a text that is no program
            return ()
        certain = tuple(
            finding
            for finding in judged.findings
            if finding.certainty is Certainty.CERTAIN and finding.site.path == self._path
        )
        hold(self._path, None, self._text)
        try:
            return without_allowed(Answer("static", certain, Checked()), cwd).findings
        finally:
            release(self._path)
