"""The page put together: template, style, script and data in one file under a strict policy."""

from __future__ import annotations

import os

from gradledger._version import __version__
from gradledger.audit.answer import Answer
from gradledger.ledger.record import dataclass
from gradledger.report.page.assets import asset, digest, filled
from gradledger.report.page.finding_card import finding_card
from gradledger.report.page.ledger_data import ledger_data, ordered
from gradledger.report.page.safe import block, text
from gradledger.report.page.verdict import headline, verdict
from gradledger.report.replay.retelling import Retold
from gradledger.report.summary import summary

_SCRIPTS = (
    "decode.js",
    "patterns.js",
    "timeline.js",
    "steering.js",
    "legend.js",
    "curves.js",
    "panels.js",
    "page.js",
)
_FILE = "from a recording of the run. This file loads nothing and sends nothing."
_SERVED = "while the recording grows. The page talks to nobody but its server on this machine."


def script_of(answer: Answer, fallback: str) -> str:
    """A name for the run: the file most findings are in, else what it was called."""
    return os.path.basename(answer.findings[0].site.path) if answer.findings else fallback


@dataclass(frozen=True, slots=True)
class Parts:
    """What a page says of a run at one time."""

    name: str
    title: str
    verdict: str
    findings: list[list[str]]
    """Of each finding a name that stays, and its card."""
    notes: list[str]
    summary: str
    data: str
    """What is drawn, as JSON that can stand in a page."""


def parts(retold: Retold, answer: Answer, name: str, cwd: str, *, running: bool = False) -> Parts:
    """The parts; `answer` says what is left to report of what the recording shows."""
    findings = ordered(answer.findings)
    places = [retold.place_of(finding) for finding in findings]
    cards = [
        [f"{finding.code} {finding.site}", finding_card(finding, number, at, cwd)]
        for number, (finding, at) in enumerate(zip(findings, places, strict=True), 1)
    ]
    return Parts(
        name,
        text(f"{name}: {headline(answer, running=running)}"),
        verdict(answer, retold.books, running=running),
        cards,
        [f"<li>{text(note)}</li>" for note in answer.notes],
        text(summary(answer)),
        block(ledger_data(retold, findings, places)),
    )


def page(retold: Retold, answer: Answer, name: str, cwd: str) -> str:
    """The whole file."""
    return _whole(parts(retold, answer, name, cwd), _SCRIPTS, _FILE)


def live_page(now: Parts) -> tuple[str, str]:
    """The page that asks its server for what is new, and the policy for its header."""
    return _whole(now, (*_SCRIPTS, "live.js"), _SERVED, live=True), policy(live=True)


def policy(*, live: bool = False) -> str:
    """Nothing is loaded, and no script or style runs but ours; a live page may ask its server."""
    script = digest(_script((*_SCRIPTS, "live.js") if live else _SCRIPTS))
    asking = "connect-src 'self'; " if live else ""
    style = digest(asset("page.css"))
    return (
        f"default-src 'none'; script-src '{script}'; style-src '{style}'; {asking}"
        "base-uri 'none'; form-action 'none'"
    )


def _whole(now: Parts, scripts: tuple[str, ...], origin: str, *, live: bool = False) -> str:
    slots = {
        "policy": text(policy(live=live)),
        "title": now.title,
        "name": text(now.name),
        "style": asset("page.css"),
        "script": _script(scripts),
        "verdict": now.verdict,
        "findings": "".join(card for _, card in now.findings),
        "notes": "".join(now.notes),
        "summary": now.summary,
        "version": text(__version__),
        "origin": origin,
        "data": now.data,
    }
    return filled("template.html", slots)


def _script(names: tuple[str, ...]) -> str:
    return "".join(asset(name) for name in names)
