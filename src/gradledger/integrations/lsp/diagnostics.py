"""What there is to say of a program -> diagnostics for each text it speaks of."""

from __future__ import annotations

from collections.abc import Callable

from lsprotocol import types

from gradledger.integrations.lsp.analysis import Analysis
from gradledger.integrations.lsp.measured import Measured
from gradledger.ledger.site import Site
from gradledger.rules.finding import Certainty, Finding, Severity

NAME = "gradledger"

_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.PERFORMANCE: types.DiagnosticSeverity.Information,
}

Address = Callable[[str], str]
"""The client's address for the path of a file."""


class Diagnoser:
    """Writes the diagnostics of one analysis."""

    def __init__(self, analysis: Analysis, encoding: str, address: Address) -> None:
        self._analysis = analysis
        self._encoding = encoding
        self._address = address
        self._measured: dict[str, Measured] = {}

    def all(self) -> dict[str, list[types.Diagnostic]]:
        """The diagnostics by address; each text of the program has an entry, even if an empty one."""
        found: dict[str, list[types.Diagnostic]] = {part.uri: [] for part in self._analysis.source.parts}
        for finding in self._analysis.findings:
            found.setdefault(self.place(finding.site)[0], []).append(self.of(finding))
        problem = self._analysis.problem
        if problem is not None and self._analysis.source.parts:
            uri, measured = self.place(Site(problem.path, problem.line, cell=problem.cell))
            said = types.Diagnostic(
                measured.range_of(Site(problem.path, problem.line)),
                f"not checked: {problem.reason}",
                severity=types.DiagnosticSeverity.Information,
                source=NAME,
            )
            found[uri].append(said)
        return found

    def of(self, finding: Finding) -> types.Diagnostic:
        """One finding as a diagnostic."""
        _, measured = self.place(finding.site)
        possible = finding.certainty is Certainty.POSSIBLE
        severity = types.DiagnosticSeverity.Hint if possible else _SEVERITIES[finding.severity]
        remedy = f"; {finding.remedy}" if finding.remedy else ""
        name = f"possible {finding.name}" if possible else finding.name
        return types.Diagnostic(
            measured.range_of(finding.site),
            f"{name}: {finding.message}{remedy}\nmore: gradledger explain {finding.code}",
            severity=severity,
            code=finding.code,
            source=NAME,
            related_information=[
                types.DiagnosticRelatedInformation(self._location(related.site), related.message)
                for related in finding.related
            ],
        )

    def place(self, site: Site) -> tuple[str, Measured]:
        """The address and the text that a site is in."""
        source = self._analysis.source
        if site.path == source.path:
            part = source.part(site.cell)
            uri, text = part.uri, part.text
        else:
            uri, text = self._address(site.path), self._analysis.neighbours.get(site.path, "")
        if uri not in self._measured:
            self._measured[uri] = Measured(text, self._encoding)
        return uri, self._measured[uri]

    def _location(self, site: Site) -> types.Location:
        uri, measured = self.place(site)
        return types.Location(uri, measured.range_of(site))
