"""The page put together: template, style, script and data in one file under a strict policy."""

from __future__ import annotations

import base64
import hashlib
import re
from importlib.resources import files

from gradledger._version import __version__
from gradledger.audit.answer import Answer
from gradledger.report.page.finding_card import finding_card
from gradledger.report.page.safe import block, text
from gradledger.report.page.verdict import headline, verdict
from gradledger.report.replay.retelling import Retold
from gradledger.report.replay.states import NAMES
from gradledger.report.summary import summary
from gradledger.rules.finding import Certainty, Finding, Severity

_SCRIPTS = ("decode.js", "patterns.js", "timeline.js", "steering.js", "curves.js", "panels.js", "page.js")
_SLOT = re.compile(r"\{\{(\w+)\}\}")
_ORDER = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.PERFORMANCE: 2}


def page(retold: Retold, answer: Answer, name: str, cwd: str) -> str:
    """The whole file; `answer` says what is left to report of what the recording shows."""
    style, script = _asset("page.css"), "".join(_asset(name) for name in _SCRIPTS)
    findings = sorted(answer.findings, key=_weight)
    places = [retold.place_of(finding) for finding in findings]
    cards = [
        finding_card(finding, number, at, cwd)
        for number, (finding, at) in enumerate(zip(findings, places, strict=True), 1)
    ]
    slots = {
        "policy": text(_policy(style, script)),
        "title": text(f"{name}: {headline(answer)}"),
        "name": text(name),
        "style": style,
        "script": script,
        "verdict": verdict(answer, retold.books),
        "findings": "".join(cards),
        "notes": "".join(f"<li>{text(note)}</li>" for note in answer.notes),
        "summary": text(summary(answer)),
        "version": text(__version__),
        "data": block(_data(retold, findings, places)),
    }
    return _SLOT.sub(lambda slot: slots[slot[1]], _asset("template.html"))


def _data(retold: Retold, findings: list[Finding], places: list[int | None]) -> dict[str, object]:
    timeline = retold.timeline.data()
    marked = [
        {"code": finding.code, "name": finding.name, "at": at}
        for finding, at in zip(findings, places, strict=True)
        if at is not None
    ]
    return {
        "timeline": timeline,
        "states": NAMES,
        "findings": marked,
        "curves": retold.curves.data(),
        **retold.stages.data(),
        "lines": retold.lines.listed,  # last: the others number their lines while they are written
    }


def _weight(finding: Finding) -> tuple[bool, int, int]:
    """Certain before possible, grave before light, often before seldom."""
    possible = finding.certainty is Certainty.POSSIBLE
    return possible, _ORDER[finding.severity], -(finding.count or 0)


def _asset(name: str) -> str:
    return (files("gradledger.report.page") / name).read_text(encoding="utf-8").replace("\r\n", "\n")


def _policy(style: str, script: str) -> str:
    """Nothing is loaded from anywhere, and no script or style runs but these two."""
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(content: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
