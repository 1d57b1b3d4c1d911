"""The three sides: the arithmetic, the audit of the run, the check of the text."""

from __future__ import annotations

import gc
import warnings
from dataclasses import dataclass
from pathlib import Path

import gradledger
from gradledger.checking.program import check_program
from gradledger.rules.finding import Finding
from tests.agreement.loops import Loop
from tests.agreement.recorder import Reason, Recorder
from tests.agreement.verdict import Place, Verdict, judged


@dataclass(frozen=True)
class Findings:
    """What one front end reports."""

    certain: frozenset[Place]
    possible: frozenset[Place]

    @property
    def codes(self) -> frozenset[str]:
        """The rules that are certain."""
        return frozenset(code for code, _ in self.certain)


def arithmetic(loop: Loop, text: str, path: Path) -> Verdict | None:
    """The verdict of the numbers; nothing where torch refuses the program for a reason of its own."""
    record = Recorder(text, str(path)).run()
    refused = record.crash is not None and record.crash.reason is Reason.OTHER
    return None if refused else judged(loop, record)


def audited(text: str, path: Path) -> Findings:
    """What the auditor finds while the program runs."""
    gc.collect()  # models of earlier programs are not this one's
    gc.freeze()
    with gradledger.watch() as ledger, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(text, str(path), "exec"), {"__name__": "__main__"})
        except (AssertionError, RuntimeError) as error:
            ledger.__exit__(type(error), error, error.__traceback__)
    assert ledger.close().notes == ()
    return _findings(ledger.findings)


def checked(text: str, path: Path) -> Findings:
    """What the checker finds in the text."""
    return _findings(check_program(text, str(path)).findings)


def _findings(found: tuple[Finding, ...]) -> Findings:
    by: dict[str, set[Place]] = {"certain": set(), "possible": set()}
    for finding in found:
        by[finding.certainty.value].add((finding.code, finding.site.line))
    return Findings(frozenset(by["certain"]), frozenset(by["possible"]))
