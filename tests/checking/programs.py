"""A checker that finds the word MISTAKE, to try everything around the real one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gradledger.checking import program, verified
from gradledger.checking.program import FindModule, Judged, ProgramError
from gradledger.ledger.site import Site
from gradledger.rules.finding import Certainty, Edit, Finding, Fix, Related, Severity

STALE = """\
import torch

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    loss = (model(x) - y).pow(2).mean()
    loss.backward()
    optimizer.step()
"""
"""A real mistake, for the real checker: GL101 at line 7."""

CLEAN = STALE.replace("    loss.backward()", "    optimizer.zero_grad()\n    loss.backward()")


def check_program(text: str, path: str, find_module: FindModule | None = None) -> Judged:
    findings: list[Finding] = []
    notes: tuple[str, ...] = ()
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("import ") and find_module is not None:
            found = find_module(line.removeprefix("import "), path, 0)
            if found is not None and "MISTAKE" in found[1]:
                findings.append(_finding(path, number, 1, len(line) + 1))
        if "SYNTAX" in line:
            raise ProgramError(number, "invalid syntax")
        if "FAULT" in line:
            raise KeyError("of our own\nover two lines")
        if "DEEP" in line:
            raise RecursionError
        if "NOTE" in line:
            notes = ("cut short",)
        for word in ("MISTAKE", "PERHAPS"):
            if word in line:
                column = line.index(word) + 1
                found_here = _finding(path, number, column, column + len(word))
                if word == "PERHAPS":
                    found_here = replace(found_here, certainty=Certainty.POSSIBLE)
                findings.append(found_here)
    return Judged(tuple(findings), notes)


def _finding(path: str, line: int, column: int, end: int) -> Finding:
    site = Site(path, line, column, line, end)
    related = (Related(Site(path, max(1, line - 1)), f"see line {max(1, line - 1)}"),)
    return Finding(
        "GL101",
        "stale-gradient",
        Severity.ERROR,
        Certainty.CERTAIN,
        site,
        f"a mistake, after line {max(1, line - 1)}",
        related,
        remedy="write RIGHT",
    )


def with_fixes(text: str, path: str, judged: Judged, find_module: FindModule | None = None) -> Judged:
    """Replace the word; a line with MISTAKE and HARD cannot be repaired."""
    lines = text.split("\n")

    def fixed(finding: Finding) -> Finding:
        site = finding.site
        if "HARD" in lines[site.line - 1]:
            return finding
        edit = Edit(path, (site.line, site.column), (site.end_line, site.end_column), "RIGHT")
        return replace(finding, fix=Fix("write RIGHT", (edit,)))

    return replace(judged, findings=tuple(map(fixed, judged.findings)))


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "check_program", check_program)
    monkeypatch.setattr(verified, "with_fixes", with_fixes)
