"""One file's bytes -> findings, or the one line that says why not."""

from __future__ import annotations

import os
import warnings

from gradledger.checking import program
from gradledger.checking.document import Document, open_document
from gradledger.checking.outcome import Outcome
from gradledger.checking.problem import Problem, Unreadable
from gradledger.checking.program import FindModule, Judged, ProgramError
from gradledger.checking.relocation import relocated
from gradledger.checking.syntax import nested, unparsable


def check_file(path: str, raw: bytes, find_module: FindModule | None) -> Outcome:
    """Check one file; whatever goes wrong becomes a problem of this file alone."""
    try:
        document = open_document(path, raw)
    except Unreadable as error:
        return Outcome(path, problems=(Problem(path, error.line, error.reason, error.cell),))
    try:
        judged = judge(document, path, find_module)
    except Exception as error:
        return Outcome(path, problems=(problem_of(error, document, path),))
    findings = tuple(relocated(finding, document, path) for finding in judged.findings)
    notes = tuple(note.removeprefix(f"{path}: ") for note in judged.notes)
    return Outcome(path, findings, notes)


def judge(document: Document, path: str, find_module: FindModule | None) -> Judged:
    """The findings by the program's own lines, each with its repair where there is one."""
    with warnings.catch_warnings():
        # what Python has to say about the text's style is none of our business
        warnings.simplefilter("ignore")
        judged = program.check_program(document.program, path, find_module)
        if not judged.findings:
            return judged
        from gradledger.checking import verified

        return verified.with_fixes(document.program, path, judged, find_module)


def problem_of(error: Exception, document: Document, path: str) -> Problem:
    """What to say of a file that could not be judged."""
    if isinstance(error, ProgramError):
        cell, line = document.place(max(1, error.line))
        return unparsable(path, line, error.reason, cell)
    if isinstance(error, (RecursionError, MemoryError)):
        return nested(path)
    return Problem(path, 1, f"was not checked, by a fault of gradledger ({_fault(error)}); please report it")


def _fault(error: Exception) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    name = "" if trace is None else os.path.basename(trace.tb_frame.f_code.co_filename)
    where = "" if trace is None else f" at {name}:{trace.tb_lineno}"
    what = " ".join(str(error).split())[:80]
    return f"{type(error).__name__}{f': {what}' if what else ''}{where}"
