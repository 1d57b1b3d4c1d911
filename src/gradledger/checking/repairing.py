"""One file's repairs, applied: all that go together, then again, until none is left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from gradledger.audit.source import hold, release
from gradledger.checking import program
from gradledger.checking.document import Document, open_document
from gradledger.checking.one_file import check_file, judge
from gradledger.checking.outcome import Outcome
from gradledger.checking.problem import Unreadable
from gradledger.checking.program import FindModule, Judged, ProgramError
from gradledger.checking.relocation import relocated
from gradledger.ledger.record import dataclass
from gradledger.rules.finding import Certainty, Finding

ROUNDS = 50
"""A repair may uncover another mistake; so many times that is believed."""

Keep = Callable[[tuple[Finding, ...]], tuple[Finding, ...]]
"""Of the findings in a file, those that the user wants to hear of."""


@dataclass(frozen=True, slots=True)
class Repaired:
    """A file before and after its repairs."""

    path: str
    before: bytes
    after: bytes
    fixed: tuple[Finding, ...]
    left: Outcome
    """What the repaired file is judged to be."""


def repaired(path: str, raw: bytes, find_module: FindModule | None, keep: Keep) -> Repaired:
    """Apply every verified repair of a certain finding that the user wants; nothing is written."""
    now, fixed = raw, list[Finding]()
    try:
        for _ in range(ROUNDS):
            document = open_document(path, now)
            _hold(path, document)
            judged = judge(document, path, find_module)
            able = _able(judged, document, path, keep)
            step = _together(path, now, document, judged, able, find_module)
            if step is None:
                break
            now, done = step
            fixed += [relocated(finding, document, path) for finding in done]
        left = check_file(path, now, find_module)
    except (Unreadable, ProgramError):
        left = check_file(path, now, find_module)
    finally:
        release(path)
    return Repaired(path, raw, now, tuple(fixed), left)


def _able(judged: Judged, document: Document, path: str, keep: Keep) -> list[Finding]:
    """The findings whose repair may be applied."""
    shown = [relocated(finding, document, path) for finding in judged.findings]
    wanted = set(keep(tuple(shown)))
    return [
        finding
        for finding, seen in zip(judged.findings, shown, strict=True)
        if seen in wanted
        and finding.certainty is Certainty.CERTAIN
        and finding.fix is not None
        and all(edit.path == path for edit in finding.fix.edits)
    ]


def _together(
    path: str,
    raw: bytes,
    document: Document,
    judged: Judged,
    able: list[Finding],
    find_module: FindModule | None,
) -> tuple[bytes, list[Finding]] | None:
    """The file after as many repairs as go together, or after one; None if there is none."""
    several = _compatible(document, able)
    if several is not None and len(several[1]) > 1 and _good(path, several, judged, find_module):
        return several
    for finding in able:
        one = _written(document, [finding])
        if one is not None and one != raw:
            return one, [finding]
    return None


def _compatible(document: Document, able: list[Finding]) -> tuple[bytes, list[Finding]] | None:
    """The file after every repair that leaves the edits of those before it alone."""
    chosen: list[Finding] = []
    best: bytes | None = None
    for finding in able:
        after = _written(document, [*chosen, finding])
        if after is not None:
            chosen.append(finding)
            best = after
    return None if best is None else (best, chosen)


def _written(document: Document, findings: list[Finding]) -> bytes | None:
    edits = dict.fromkeys(
        edit for finding in findings if finding.fix is not None for edit in finding.fix.edits
    )
    try:
        return document.rewritten(list(edits))
    except ValueError:  # two edits overlap, or the encoding cannot say it
        return None


def _good(
    path: str, several: tuple[bytes, list[Finding]], judged: Judged, find_module: FindModule | None
) -> bool:
    """Whether the repairs hold together as each does alone: those findings are gone, none is new."""
    try:
        after = program.check_program(open_document(path, several[0]).program, path, find_module)
    except (Unreadable, ProgramError):
        return False
    allowed = _kinds(judged.findings)
    allowed.subtract(_kinds(several[1]))
    return all(count <= allowed[kind] for kind, count in _kinds(after.findings).items())


def _kinds(findings: tuple[Finding, ...] | list[Finding]) -> Counter[tuple[str, Certainty]]:
    return Counter((finding.code, finding.certainty) for finding in findings)


def _hold(path: str, document: Document) -> None:
    release(path)
    for cell, text in document.parts():
        hold(path, cell, text)
