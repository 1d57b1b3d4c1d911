"""What changed from one run to another."""

from __future__ import annotations

import os
from collections import Counter

from gradledger.audit.answer import Answer
from gradledger.audit.place import shown_place
from gradledger.ledger.books import Books
from gradledger.ledger.record import dataclass
from gradledger.report.style import StreamFacts
from gradledger.rules.finding import Finding


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two runs."""

    name: str
    answer: Answer
    books: Books


@dataclass(frozen=True, slots=True)
class Comparison:
    """The findings sorted by what became of them, and the numbers that differ."""

    gone: tuple[Finding, ...]
    new: tuple[Finding, ...]
    kept: tuple[tuple[Finding, Finding], ...]
    numbers: tuple[tuple[str, str, str], ...]
    """Name, before, after; also those that are equal."""

    @property
    def fails(self) -> bool:
        """Whether something came that makes a run fail."""
        return any(finding.fails for finding in self.new)


def compared(before: Side, after: Side) -> Comparison:
    """Match the findings by rule, file and, first of all, line."""
    left = list(before.answer.findings)
    kept: list[tuple[Finding, Finding]] = []
    new: list[Finding] = []
    for finding in after.answer.findings:
        same = [old for old in left if _key(old) == _key(finding)]
        if not same:
            new.append(finding)
            continue
        old = min(same, key=lambda one: abs(one.site.line - finding.site.line))
        left.remove(old)
        kept.append((old, finding))
    one, other = _numbers(before.books), _numbers(after.books)
    numbers = tuple((name, one.get(name, "-"), other.get(name, "-")) for name in {**one, **other})
    return Comparison(tuple(left), tuple(new), tuple(kept), numbers)


def comparison_text(comparison: Comparison, before: Side, after: Side, facts: StreamFacts) -> str:
    """The comparison for a terminal."""
    lines = [facts.paint(facts.plain(f"{before.name} -> {after.name}"), "code")]
    for word, role, findings in (("gone", "good", comparison.gone), ("new", "error", comparison.new)):
        lines += [_line(word, role, finding, facts) for finding in findings]
    for old, new in comparison.kept:
        often = "" if old.count == new.count else f", {old.count} -> {new.count} times"
        lines.append(_line("still", "quiet", new, facts) + often)
    if len(lines) == 1:
        lines.append("no findings in either run")
    lines.append("")
    width = max((len(name) for name, _, _ in comparison.numbers), default=0)
    for name, one, other in comparison.numbers:
        change = one if one == other else facts.paint(f"{one} -> {other}", "code")
        lines.append(f"{name:<{width}}  {change}")
    return "\n".join(lines) + "\n"


def _line(word: str, role: str, finding: Finding, facts: StreamFacts) -> str:
    place = facts.plain(shown_place(finding.site, facts.cwd))
    said = f"{facts.paint(f'{word:<5}', role)}  {finding.code} {finding.name}  {place}"
    return f"{said}: {facts.prose(finding.message)}"


def _key(finding: Finding) -> tuple[str, str, str]:
    return finding.code, os.path.basename(finding.site.path), finding.certainty.value


def _numbers(books: Books) -> dict[str, str]:
    live = [balance for balance in books.balances.values() if balance.trainable]
    sizes: Counter[int] = Counter()
    for book in books.optimizers.values():
        for window, tally in book.windows.items():
            sizes[window.size] += tally.count
    usual = sizes.most_common(4)
    shown = ", ".join(f"{size} x{often}" for size, often in usual)
    return {
        "backward passes": str(books.backwards),
        "steps": str(books.steps),
        "skipped steps": str(sum(book.skipped for book in books.optimizers.values())),
        "parameters": str(sum(balance.size for balance in live)),
        "groups": str(len(live)),
        "window sizes": shown + (", ..." if len(sizes) > 4 else "") or "-",
        "lost micro-batches": str(max((balance.cleared_unused for balance in live), default=0)),
    }
