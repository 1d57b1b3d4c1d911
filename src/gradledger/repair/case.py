"""One finding together with the program it is in: what every repair starts from."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradledger.ledger.record import dataclass
from gradledger.ledger.site import Site
from gradledger.repair.edits import Editor, Edits
from gradledger.repair.locate import call_at, statement_at
from gradledger.repair.program import Program
from gradledger.repair.roles import BACKWARD, STEP
from gradledger.rules.finding import Finding, Fix


@dataclass(frozen=True, slots=True)
class Case:
    """A finding and its program."""

    finding: Finding
    program: Program

    @property
    def editor(self) -> Editor:
        """Makes edits to the program."""
        return Editor(self.program, self.finding.site.path)

    def call(self, *names: str) -> ast.Call | None:
        """The call of these names at the finding's own place."""
        return call_at(self.program, self.finding.site, *names)

    def statement(self) -> ast.stmt | None:
        """The statement at the finding's own place."""
        return statement_at(self.program, self.finding.site)

    def step(self) -> ast.Call | None:
        """The step that takes part in the mistake."""
        return next(self.related(*STEP), None)

    def backward(self) -> ast.Call | None:
        """The backward that takes part in the mistake."""
        return next(self.related(*BACKWARD), None)

    def related(self, *names: str) -> Iterator[ast.Call]:
        """The calls of these names at the related places in this file."""
        for site in self.related_sites():
            call = call_at(self.program, site, *names)
            if call is not None:
                yield call

    def related_sites(self) -> Iterator[Site]:
        """The related places in this file."""
        for related in self.finding.related:
            site = related.site
            if (site.path, site.cell) == (self.finding.site.path, self.finding.site.cell):
                yield site

    def fix(self, description: str, *parts: Edits) -> Fix | None:
        """A repair made of these parts, or none where one of them cannot be done."""
        edits = [edit for part in parts for edit in part or ()]
        if any(part is None for part in parts) or not edits:
            return None
        return Fix(description, tuple(sorted(edits, key=lambda edit: (edit.start, edit.end))))
