"""One program's text -> findings."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterable

from gradledger.audit.auditor import Auditor
from gradledger.checking.spoken import spoken
from gradledger.ledger.events import AccountTaken, BackwardRan
from gradledger.ledger.journal import Journal
from gradledger.ledger.record import dataclass, replace
from gradledger.rules.finding import Certainty, Finding
from gradledger.static.explore import MOST_PATHS, Exploration, Trace, explore
from gradledger.static.imported_passes import imports_passes
from gradledger.static.parsed import parse
from gradledger.static.unit import Unit

FindModule = Callable[[str, str, int], "tuple[str, str] | None"]
"""(dotted name, path of the importing file, level of a relative import) -> (path, text) of its source."""

_TORCH = re.compile(r"\b(?:torch|lightning|pytorch_lightning|accelerate|transformers|ignite|fastai)\b")
_OTHERS = re.compile(
    r"^\s*(?:import|from)\s+(?:paddle|mxnet|mindspore|oneflow|jittor|flax|tinygrad)\b", re.MULTILINE
)
"""Frameworks whose methods have the same names."""
_NEEDS_THE_END = frozenset(
    [
        "GL101",
        "GL102",
        "GL103",
        "GL105",
        "GL106",
        "GL202",
        "GL204",
        "GL303",
        "GL304",
        "GL401",
        "GL402",
        "GL404",
    ]
)
"""Rules that would have to see the rest of a program that was followed only in part."""
_UNLINKED = frozenset({"GL106", "GL309", "GL401", "GL402", "GL403", "GL404"})
"""Rules that need to know which optimizer holds which parameters."""

_MIXED_UP = frozenset({"GL101", "GL102", "GL103", "GL105", "GL304"})
"""Rules that take a pass meant for one optimizer for another's, where it is guessed whom it reaches."""


_WHOLE = frozenset({"GL402", "GL404"})
"""What never happens in a program: a path on which it does not happen says nothing of the others."""


class ProgramError(Exception):
    """The text is no program that can be read: at which line, and why."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Judged:
    """What was found in one program."""

    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()


def check_program(text: str, path: str, find_module: FindModule | None = None) -> Judged:
    """The findings in one program, without repairs."""
    if not _may_train(text):
        return Judged(())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            unit = parse(text, path, keep=False)
    except SyntaxError as error:
        raise ProgramError(error.lineno or 1, error.msg) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise ProgramError(1, str(error) or type(error).__name__) from None
    if _OTHERS.search(text) or not (_TORCH.search(text) or _imports_all_of_torch(unit, find_module)):
        return Judged(())
    passes = unit.differentiates or imports_passes(unit, find_module)
    if not passes and "zero_grad" not in unit.code:
        return Judged(())
    exploration = explore(unit, find_module)
    findings = judge(exploration.traces)
    if not passes:
        # All else would have to see the passes.
        return Judged(tuple(finding for finding in findings if finding.code == "GL106"))
    return Judged(tuple(findings), tuple(f"{path}: {note}" for note in _notes(exploration)))


def _may_train(text: str) -> bool:
    """Whether passes are in the text, may be in what it imports, or may have been forgotten."""
    if "backward" in text or ("optim" in text and ".parameters(" in text):
        return True
    return "zero_grad" in text and "step(" in text


def _imports_all_of_torch(unit: Unit, find_module: FindModule | None) -> bool:
    """Whether torch comes out of a module of the project by `from module import *`."""
    if find_module is None:
        return False
    for node in unit.tree.body:
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            found = find_module(node.module or "", unit.path, node.level)
            if found is not None and _TORCH.search(found[1]):
                return True
    return False


def _notes(exploration: Exploration) -> Iterable[str]:
    """What was not looked at, for the reader to know."""
    if exploration.unfinished:
        yield "too large to follow to the end; part of it was not checked"
    elif exploration.more_paths:
        yield f"too many paths through its conditions; the first {MOST_PATHS} were checked"


def judge(traces: Iterable[Trace]) -> list[Finding]:
    """What the rules say of all paths: certain where every path that runs these lines says so."""
    said: dict[tuple[str, str, int], list[tuple[int, Finding]]] = {}
    lines: list[set[tuple[str, int]]] = []
    for number, trace in enumerate(traces):
        auditor = Auditor()
        journal = Journal(auditor)
        journal.post_all(trace.events)
        ran = {(e.site.path, e.site.line) for e in trace.events if e.site is not None}
        lines.append(ran | trace.lines)
        passed = any(isinstance(event, BackwardRan) for event in trace.events)
        for finding in auditor.findings(journal.books):
            if (trace.ambiguous or trace.alone) and finding.code in _UNLINKED:
                continue
            place = f"{finding.code}:{finding.site.path}:{finding.site.line}"
            if not trace.unlinked.isdisjoint((finding.code, place)) or (
                finding.code == "GL106" and trace.guessed
            ):
                continue
            if finding.code == "GL304" and not passed:
                continue  # a clip before a pass that was not seen to reach anything
            unfinished = trace.cut_short and finding.code in _NEEDS_THE_END
            several = sum(isinstance(event, AccountTaken) for event in trace.events) > 1
            mixed = trace.ambiguous and several and finding.code in _MIXED_UP
            if unfinished or mixed or finding.code in trace.doubts or place in trace.doubts:
                finding = replace(finding, certainty=Certainty.POSSIBLE)
            finding = spoken(finding, trace.scale)
            said.setdefault((finding.code, finding.site.path, finding.site.line), []).append(
                (number, finding)
            )
    findings = _one_for_a_cause([_joined(statements, lines) for statements in said.values()])
    findings = [f for f in findings if f.certainty is Certainty.CERTAIN or f.code not in _WHOLE]
    return sorted(findings, key=lambda f: (f.site.path, f.site.line, f.code))


def _one_for_a_cause(findings: list[Finding]) -> list[Finding]:
    """Without leaks to another optimizer from a line of which it is said that nothing clears it at all."""
    stale = {f.site for f in findings if f.code == "GL101" and f.certainty is Certainty.CERTAIN}
    return [f for f in findings if f.code != "GL401" or not {r.site for r in f.related} <= stale]


def _joined(statements: list[tuple[int, Finding]], lines: list[set[tuple[str, int]]]) -> Finding:
    finding = next((f for _, f in statements if f.certainty is Certainty.CERTAIN), statements[0][1])
    involved = {(site.path, site.line) for site in (finding.site, *(r.site for r in finding.related))}
    speaking = {number for number, f in statements if f.certainty is Certainty.CERTAIN}
    silent = any(involved <= ran and number not in speaking for number, ran in enumerate(lines))
    return replace(
        finding,
        certainty=Certainty.POSSIBLE if silent or not speaking else Certainty.CERTAIN,
        count=None,
        first_step=None,
        detail="",
    )
