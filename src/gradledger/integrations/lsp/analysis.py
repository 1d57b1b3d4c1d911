"""One program of the editor's -> what there is to say of it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from gradledger.audit.answer import Answer, Checked
from gradledger.audit.baseline import BaselineError, read_baseline
from gradledger.audit.config import Config, ConfigError, load_config
from gradledger.audit.select import final, selection
from gradledger.audit.source import hold, release
from gradledger.checking import program, verified
from gradledger.checking.document import LONGEST, Document, too_long
from gradledger.checking.neighbours import Neighbours
from gradledger.checking.problem import Problem, Unreadable
from gradledger.checking.program import Judged, ProgramError
from gradledger.checking.relocation import relocated
from gradledger.checking.syntax import nested
from gradledger.integrations.lsp.source import Source, plain
from gradledger.ledger.record import dataclass, field, replace
from gradledger.rules.finding import Finding


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What else a program is read with."""

    folder: str
    """The folder that the editor has open, or else the working directory."""
    open_files: Mapping[str, str]
    """The texts of the other open files by their paths."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """What there is to say of one program, by the reader's cells and lines."""

    source: Source
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    problem: Problem | None = None
    """Why it could not be checked."""
    neighbours: Mapping[str, str] = field(default_factory=dict)
    """The texts of the modules it was read with, by their paths."""


def analyse(source: Source, around: Surroundings, *, repairs: bool = False) -> Analysis:
    """Check a program; finding repairs takes longer, so they come only if asked for."""
    find_module = _EditorFirst(around)
    try:
        document = source.document()
        judged = _judged(document, source.path, find_module, repairs=repairs)
    except Unreadable as error:
        return Analysis(source, problem=Problem(source.path, error.line, error.reason, error.cell))
    except ProgramError as error:
        cell, line = document.place(max(1, error.line))
        return Analysis(source, problem=Problem(source.path, line, error.reason, cell))
    except (RecursionError, MemoryError):
        return Analysis(source, problem=nested(source.path))
    findings = tuple(_placed(finding, document, source.path) for finding in judged.findings)
    analysis = Analysis(source, findings, judged.notes, neighbours=find_module.read)
    return _wanted(analysis, around.folder)


def _judged(document: Document, path: str, find_module: _EditorFirst, *, repairs: bool) -> Judged:
    text = document.program
    if len(text) > LONGEST:
        raise too_long(len(text))
    judged = program.check_program(text, path, find_module)
    return verified.with_fixes(text, path, judged, find_module) if repairs and judged.findings else judged


def _placed(finding: Finding, document: Document, path: str) -> Finding:
    """The finding by cells and lines, without a repair that reaches from one cell into another."""
    edits = () if finding.fix is None else finding.fix.edits
    if any(
        edit.path != path or document.place(edit.start[0])[0] != document.place(edit.end[0])[0]
        for edit in edits
    ):
        finding = replace(finding, fix=None)
    return relocated(finding, document, path)


def _wanted(analysis: Analysis, folder: str) -> Analysis:
    """What comments, configuration and baseline leave of it, looking at the editor's texts."""
    source = analysis.source
    held = {(source.path, part.cell): part.text for part in source.parts}
    held |= {(path, None): text for path, text in analysis.neighbours.items()}
    for (path, cell), text in held.items():
        hold(path, cell, text)
    try:
        complaints: list[str] = []
        config = _config(source.path, folder, complaints)
        baseline = None
        if config.baseline is not None:
            try:
                baseline = read_baseline(config.baseline)
            except BaselineError as error:
                complaints.append(str(error))
        answer = Answer("static", analysis.findings, Checked())
        chosen = final(answer, selection(config, Path(folder)), folder, baseline)
    finally:
        for path, _ in held:
            release(path)
    return replace(analysis, findings=chosen.findings, notes=(*analysis.notes, *complaints, *chosen.notes))


def _config(path: str, folder: str, complaints: list[str]) -> Config:
    """The nearest configuration; one that cannot be followed is complained of and not followed."""
    try:
        return load_config(Path(folder) if path.startswith("<") else Path(path).parent) or Config()
    except ConfigError as error:
        complaints.append(str(error))
        return Config()


class _EditorFirst:
    """Finds modules on the disk and takes their text from the editor where it has them open."""

    def __init__(self, around: Surroundings) -> None:
        self._disk = Neighbours(around.folder)
        self._open = around.open_files
        self.read: dict[str, str] = {}

    def __call__(self, name: str, importer: str, level: int) -> tuple[str, str] | None:
        """The path and the text of a module."""
        found = self._disk(name, importer, level)
        if found is None:
            return None
        path = os.path.normpath(found[0])
        text = self._open.get(path)
        self.read[path] = found[1] if text is None else plain(text)
        return path, self.read[path]
