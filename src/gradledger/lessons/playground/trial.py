"""A set-up tried for real: its program under audit, the right loop beside it, and what both have shown."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from gradledger.lessons.playground.comparing import curves, distance, final_loss
from gradledger.lessons.playground.faults import words_for
from gradledger.lessons.playground.link import query
from gradledger.lessons.playground.program import Program, program
from gradledger.lessons.playground.reference import right
from gradledger.lessons.playground.running import Ran, run
from gradledger.lessons.playground.setup import Setup
from gradledger.lessons.playground.verdict import verdict
from gradledger.report.page.finding_card import finding_card
from gradledger.report.page.ledger_data import ledger_data, ordered
from gradledger.report.page.verdict import judged
from gradledger.report.replay.retelling import retold
from gradledger.rules.finding import Finding
from gradledger.story.told import Story

NAME = "train.py"


def trial(setup: Setup) -> dict[str, object]:
    """Everything the page shows of this set-up, as plain data."""
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="gradledger-trial-") as name:
        folder = Path(name).resolve()
        written = program(setup)
        mine = _ran(folder, written, save=folder / "run.jsonl")
        told = retold(str(folder / "run.jsonl"), str(folder))
        best = _ran(folder / "right", program(right(setup)))
        findings = ordered(told.answer.findings)
        places = [told.place_of(finding) for finding in findings]
        page = ledger_data(told, findings, places)
        shown = _shown(findings, places, written, str(folder))
    apart = distance(mine, best)
    drawn = {"series": curves(mine, best), **_axis(setup, told.story)}
    return {
        "query": query(setup),
        "program": written.text,
        "origins": {str(line): list(origin) for line, origin in written.origins.items()},
        **shown,
        "ledger": {**page, "curves": drawn},
        "printed": mine.printed,
        "error": _error(mine),
        "warned": list(mine.warned),
        "loss": {"mine": final_loss(mine), "right": final_loss(best)},
        "distance": apart,
        "verdict": verdict(setup, judged(told.answer), _error(mine), apart),
        "updates": {"mine": len(mine.weights), "right": len(best.weights)},
        "seconds": round(time.perf_counter() - begun, 3),
    }


def _ran(folder: Path, written: Program, save: Path | None = None) -> Ran:
    folder.mkdir(exist_ok=True)
    path = folder / NAME
    path.write_text(written.text, encoding="utf-8")
    return run(path, save)


def _axis(setup: Setup, story: Story) -> dict[str, object]:
    """What the curves are drawn over: the batches of both loops, however many passes each had."""
    batches, passes = setup.epochs * setup.batches, story.passes
    same = passes == batches
    return {
        "end": batches,
        "unit": "micro-batch" if same else "batch",
        "epochs": [setup.batches * epoch for epoch in range(1, setup.epochs)],
        "skips": list(story.skips) if same else [],
        "steps": same,
    }


def _shown(
    findings: list[Finding], places: list[int | None], written: Program, folder: str
) -> dict[str, object]:
    cards = [
        finding_card(finding, number, at, folder)
        for number, (finding, at) in enumerate(zip(findings, places, strict=True), 1)
    ]
    return {
        "findings": [_finding(finding, card, written) for finding, card in zip(findings, cards, strict=True)],
    }


def _finding(finding: Finding, card: str, written: Program) -> dict[str, object]:
    line = finding.site.line
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        "certainty": finding.certainty.value,
        "line": line,
        "message": finding.message,
        "remedy": finding.remedy,
        "related": [{"line": one.site.line, "message": one.message} for one in finding.related],
        "block": list(written.origins[line]) if line in written.origins else None,
        "card": card,
    }


def _error(ran: Ran) -> dict[str, object] | None:
    if ran.error is None:
        return None
    message = str(ran.error).strip().splitlines()
    return {
        "kind": type(ran.error).__name__,
        "message": message[0] if message else "",
        "line": ran.line,
        "words": words_for(ran.error),
    }
