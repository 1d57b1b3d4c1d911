"""The first thing on the page: whether the run can be trusted, in words."""

from __future__ import annotations

from gradledger.audit.answer import Answer
from gradledger.ledger.books import Books
from gradledger.report.page.safe import text
from gradledger.report.summary import verdict as counted
from gradledger.rules.finding import Certainty, Finding, Severity


def verdict(answer: Answer, books: Books, *, running: bool = False) -> str:
    """The headline with its symbol, and the numbers beside it."""
    kind, symbol, headline, below = judged(answer, running=running)
    tiles = "".join(
        f'<div class="tile{" bad" if bad else ""}"><dt>{text(name)}</dt><dd>{text(value)}</dd></div>'
        for name, value, bad in _tiles(answer, books)
    )
    return (
        f'<section class="verdict {kind}" aria-labelledby="verdict-title">'
        f'<div class="statement"><span class="symbol" aria-hidden="true">{symbol}</span>'
        f'<div><h1 id="verdict-title">{text(headline)}</h1><p>{text(below)}</p></div></div>'
        f'<dl class="tiles">{tiles}</dl></section>'
    )


def headline(answer: Answer, *, running: bool = False) -> str:
    """The verdict in one line."""
    return judged(answer, running=running)[2]


def judged(answer: Answer, *, running: bool = False) -> tuple[str, str, str, str]:
    """Its kind, its symbol, the verdict in one line, and the line below."""
    certain = [f for f in answer.findings if f.certainty is Certainty.CERTAIN]
    errors = [f for f in certain if f.severity is Severity.ERROR]
    warnings = [f for f in certain if f.severity is Severity.WARNING]
    if running and not answer.checked.backwards and not answer.checked.steps:
        return "idle", "…", "Waiting for the first backward pass", "The page fills as soon as the run trains."
    if not answer.checked.backwards and not answer.checked.steps:
        return "idle", "–", "Nothing was trained", "The recording holds no backward pass and no step."
    if errors:
        return "error", "✕", "The updates are not what the code says", _below(answer, errors[0])
    if warnings:
        return "warning", "!", "The updates are very likely wrong", _below(answer, warnings[0])
    if certain:
        return "performance", "↯", "Right, but wasteful", _below(answer, certain[0])
    if answer.findings:
        return "possible", "?", "Nothing certain, something possible", _below(answer, answer.findings[0])
    if running:
        return "good", "✓", "The books balance so far", "No rule has found anything wrong yet."
    return "good", "✓", "The books balance", "No rule found anything wrong with the gradients of this run."


def _below(answer: Answer, first: Finding) -> str:
    more = "" if len(answer.findings) == 1 else "; the first of them"
    where = f"{first.site.path.replace(chr(92), '/').rpartition('/')[2]}, line {first.site.line}"
    return f"{counted(answer.findings)}{more} in {where}: this line {first.message}."


def _tiles(answer: Answer, books: Books) -> list[tuple[str, str, bool]]:
    checked = answer.checked
    skipped = sum(book.skipped for book in books.optimizers.values())
    live = [balance for balance in books.balances.values() if balance.trainable]
    wasted = max((balance.cleared_unused for balance in live), default=0)
    tiles = [
        ("micro-batches", f"{books.backwards:,}", False),
        ("updates", f"{books.steps:,}", False),
        ("parameters", f"{checked.parameters:,}", False),
        ("groups", f"{checked.groups:,}", False),
    ]
    if skipped:
        tiles.append(("skipped updates", f"{skipped:,}", False))
    if wasted and any(f.code in ("GL102", "GL103") for f in answer.findings):
        tiles.append(("micro-batches lost", f"{wasted:,}", True))
    return tiles
