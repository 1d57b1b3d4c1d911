"""Judges a script by reading it, by running it, and by the weights it ends with."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gradledger.checking.tree import check_paths
from gradledger.ledger.record import dataclass, field_names
from gradledger.lessons.repairing.running import ran
from gradledger.rules.finding import Certainty, Finding

CLOSE = 1e-4
"""So much float32 may be off, relative to the reference in float64; a mistake is off by far more."""
PATIENCE = 120.0
"""So many seconds a lesson's script may take."""


@dataclass(frozen=True, slots=True)
class Found:
    """One certain finding: its rule, its line, what is wrong."""

    code: str
    name: str
    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What each judge says; no findings and empty texts mean that it is content."""

    check: tuple[Found, ...] = ()
    run: tuple[Found, ...] = ()
    unreadable: str = ""
    """Why the script could not even be read."""
    crashed: str = ""
    """Why it did not run to its end."""
    idle: str = ""
    """Why its run says nothing about training."""
    weights: str = ""
    """What is wrong with the weights."""
    distance: float | None = None

    @property
    def good(self) -> bool:
        """Whether nothing is left to mend."""
        return not (self.check or self.run or self.unreadable or self.crashed or self.idle or self.weights)


def judged(script: Path, folder: Path, patience: float = PATIENCE) -> Verdict:
    """Let all three judge the script of a lesson's folder."""
    check, unreadable = checked(script)
    if unreadable:
        return Verdict(unreadable=unreadable)
    with tempfile.TemporaryDirectory() as place:
        result = Path(place) / "result.json"
        command = [sys.executable, "-m", "gradledger.lessons.repairing.worker"]
        command += [str(script.absolute()), str(folder), str(result)]
        status, stderr = ran(command, patience)
        if status is None:
            return Verdict(
                check, crashed=f"it was still running after {patience:.0f} seconds and was stopped"
            )
        if not result.exists():
            return Verdict(check, crashed=_last(stderr) or f"it ended with status {status}")
        return concluded(check, json.loads(result.read_text(encoding="utf-8")), stderr)


def checked(script: Path) -> tuple[tuple[Found, ...], str]:
    """What reading the file finds, whatever it asks to be allowed, and why it could not be read."""
    outcomes = check_paths([str(script.absolute())], str(Path.cwd()), cached=False)
    for problem in outcomes.problems:
        return (), f"line {problem.line}: {problem.reason}"
    return findings_of(outcomes.findings), ""


def findings_of(findings: Iterable[Finding]) -> tuple[Found, ...]:
    """What is certain among the findings."""
    return tuple(
        Found(finding.code, finding.name, finding.site.line, finding.message)
        for finding in findings
        if finding.certainty is Certainty.CERTAIN
    )


def as_table(found: Found) -> dict[str, object]:
    """A finding as JSON has it."""
    return {name: getattr(found, name) for name in field_names(found)}


def concluded(check: tuple[Found, ...], told: dict[str, Any], stderr: str) -> Verdict:
    """A verdict from what the worker has left."""
    run = tuple(Found(**one) for one in told["findings"])
    if told["status"]:
        return Verdict(check, run, crashed=_last(stderr) or f"it ended with status {told['status']}")
    idle = "" if told["backwards"] else "no backward() was seen: there is no training to judge"
    weights = told["weights"]
    if "problem" in weights:
        return Verdict(check, run, idle=idle, weights=weights["problem"])
    whole = float(weights["whole"])
    if whole <= CLOSE:
        return Verdict(check, run, idle=idle, distance=whole)
    name, worst = max(weights["each"].items(), key=lambda item: item[1])
    text = f"they are {_share(whole)} away from the weights that the arithmetic gives"
    text += f" (the farthest: {name}, {_share(worst)})"
    return Verdict(check, run, idle=idle, weights=text, distance=whole)


def _share(distance: float) -> str:
    return f"{distance:.2%}" if distance < 10 else f"{distance:.2g} times"


def _last(stderr: str) -> str:
    """The line that tells what went wrong."""
    lines = [line for line in stderr.splitlines() if line.strip()]
    return lines[-1].strip() if lines else ""
