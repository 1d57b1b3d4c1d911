"""What the first lines of a broken.py say: the codes that reading it and running it must give."""

from __future__ import annotations

import re
from pathlib import Path

from gradledger.ledger.record import dataclass
from gradledger.lessons.fault import CourseError

_LINE = re.compile(r"# codes(?: (check|run))?:((?:[\s,]*GL\d{3})*)\s*")
_CODE = re.compile(r"GL\d{3}")


@dataclass(frozen=True, slots=True)
class Stated:
    """The codes of `gradledger check` and of `gradledger run`, and how many lines say so."""

    check: frozenset[str]
    run: frozenset[str]
    lines: int


def stated(script: Path) -> Stated:
    """Read the lines `# codes: …`, or `# codes check: …` and `# codes run: …`."""
    codes: dict[str, frozenset[str]] = {}
    count = 0
    for line in script.read_text(encoding="utf-8").splitlines():
        found = _LINE.fullmatch(line)
        if found is None:
            break
        count += 1
        for side in (found[1],) if found[1] else ("check", "run"):
            codes[side] = frozenset(_CODE.findall(found[2]))
    if set(codes) != {"check", "run"}:
        raise CourseError(
            script, 1, "the first line must say: # codes: GL103 (or one line each for check and run)"
        )
    return Stated(codes["check"], codes["run"], count)
