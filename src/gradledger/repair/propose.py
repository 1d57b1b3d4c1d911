"""A finding and its program's text -> candidate repairs."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from functools import cache

import gradledger.repair
from gradledger.ledger.modules import modules_in
from gradledger.repair.apply import applied
from gradledger.repair.case import Case
from gradledger.repair.program import read
from gradledger.repair.repairer import Repairer
from gradledger.rules.finding import Finding, Fix

_MOST = 8
"""Each candidate costs its reader a whole check."""


@cache
def repairers(code: str) -> tuple[Repairer, ...]:
    """The repairs for one code, found by looking into this folder: a new one is one new file."""
    names = [name for name in modules_in(gradledger.repair.__path__) if name.startswith(code.lower() + "_")]
    modules = [importlib.import_module(f"gradledger.repair.{name}") for name in names]
    found = (value for module in modules for value in vars(module).values() if isinstance(value, type))
    return tuple(kind() for kind in found if issubclass(kind, Repairer) and kind is not Repairer)


def proposals(finding: Finding, text: str) -> Iterator[Fix]:
    """Candidate repairs for one finding, best first; nothing where none is sure to fit the text."""
    program = read(text) if finding.site.cell is None else None
    if program is None:
        return
    results = {text}
    for repairer in repairers(finding.code):
        for fix in repairer.candidates(Case(finding, program)):
            result = None if fix is None else _result(text, fix)
            if fix is None or result is None or result in results:
                continue
            results.add(result)
            yield fix
            if len(results) > _MOST:
                return


def _result(text: str, fix: Fix) -> str | None:
    try:
        result = applied(text, fix.edits)
    except ValueError:
        return None
    return None if read(result) is None else result
