"""When the three sides tell the same, and how much the text shows."""

from __future__ import annotations

from collections import Counter

from tests.agreement.limits import lines_told, untold
from tests.agreement.loops import Loop
from tests.agreement.sides import Findings
from tests.agreement.verdict import Place, Verdict


def clips_alike(found: Findings) -> Findings:
    """A clip of no effect as one mistake: for whom it was meant is not in the numbers."""
    same = {"GL309": "GL304"}
    certain, possible = (
        frozenset((same.get(code, code), line) for code, line in places)
        for places in (found.certain, found.possible)
    )
    return Findings(certain, possible)


def run_agrees(loop: Loop, verdict: Verdict, run: Findings) -> None:
    """The audit finds what the numbers show, at the same lines, and nothing else."""
    undecided = verdict.open | untold(loop)
    if lines_told(loop):
        assert _without(run.certain, undecided) == _without(verdict.wrong, undecided)
    else:
        assert run.codes - undecided == verdict.codes - undecided


def text_is_confirmed(loop: Loop, verdict: Verdict, run: Findings, read: Findings) -> None:
    """What the text is certain of, the run and the numbers show; where one cannot tell, the other does."""
    undecided = verdict.open | untold(loop)
    shown = {place for place in run.certain if place in verdict.wrong or place[0] in undecided}
    shown |= {place for place in verdict.wrong if place[0] in undecided}
    if not lines_told(loop):
        shown |= {place for place in verdict.wrong | run.certain if place[0] in verdict.codes}
    assert read.certain <= shown


class Tally:
    """What came of many loops."""

    def __init__(self) -> None:
        self.loops = 0
        self.texts: set[int] = set()
        """The hashes of the programs, to tell how many differ."""
        self.told: Counter[str] = Counter()
        """What the audit was certain of, by rule."""
        self.judged: Counter[str] = Counter()
        """Of that, what the numbers decide."""
        self.wrong: Counter[str] = Counter()
        """What the numbers show for certain, by rule."""
        self.found: Counter[str] = Counter()
        """Of that, what the text shows, certain or possible."""

    def add_run(self, loop: Loop, verdict: Verdict, run: Findings) -> None:
        """Count what the audit tells and the numbers decide."""
        undecided = verdict.open | untold(loop)
        self.told.update(run.codes)
        self.judged.update(run.codes - undecided)

    def add_text(self, loop: Loop, verdict: Verdict, read: Findings) -> None:
        """Count the mistakes that can be told, and those that the text shows."""
        wrong = verdict.codes - verdict.open - untold(loop)
        self.wrong.update(wrong)
        self.found.update(wrong & {code for code, _ in read.certain | read.possible})

    def shown(self) -> float:
        """The share of the mistakes that the text shows."""
        return self.found.total() / max(self.wrong.total(), 1)

    def decided(self) -> float:
        """The share of the audit's findings on which the numbers have a verdict."""
        return self.judged.total() / max(self.told.total(), 1)

    def hidden(self, *, share: float) -> set[str]:
        """The rules, of those with some mistakes, of which the text shows less than this share."""
        return {code for code, count in self.wrong.items() if count >= 3 and self.found[code] < share * count}


def _without(places: frozenset[Place], codes: frozenset[str]) -> set[Place]:
    return {place for place in places if place[0] not in codes}
