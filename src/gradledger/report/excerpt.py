"""The excerpt of the source: numbered lines with the remarks beside them."""

from __future__ import annotations

from collections.abc import Sequence

from gradledger.audit.place import shown_place
from gradledger.report.cells import cells, cut, wrap
from gradledger.report.extract import Shown, extract
from gradledger.report.style import StreamFacts
from gradledger.rules.finding import Finding

KEPT_INDENT = 4
"""How much of the indentation that all lines share is kept."""
ROOM_FOR_REMARK = 28
"""A remark that would have fewer cells than this beside its line goes below it."""


def excerpt(finding: Finding, facts: StreamFacts) -> list[str]:
    """Draw all lines that take part in a finding."""
    parts = extract(finding)
    lines = numbered(parts.lines, facts)
    for site, code, role, remark in parts.elsewhere:
        place = "" if site is finding.site else facts.plain(shown_place(site, facts.cwd)) + " "
        head = f"  {place}{facts.bar} " if code else f"  {place}"
        shown = Shown(site.line, _codes([code])[0], [(role, remark)] if remark else [])
        indent = " " * (cells(head) - 2 if code else cells(head))
        blank = indent + (f"{facts.bar} " if code else "") if cells(head) < facts.width // 2 else " " * 4
        lines += _row(shown, head, blank, 0, facts)
    return lines


def numbered(lines: Sequence[Shown | None], facts: StreamFacts) -> list[str]:
    """Draw lines with their numbers; None stands for lines left out."""
    shown = [line for line in lines if line is not None]
    if not shown:
        return []
    digits = max(2, *(len(str(line.line)) for line in shown))
    codes = _codes([line.code for line in shown])
    drawn = [
        Shown(line.line, facts.plain(code), line.remarks) for line, code in zip(shown, codes, strict=True)
    ]
    column = max((cells(line.code) for line in drawn if line.remarks), default=0)
    space = facts.width - digits - 5
    if space - column < ROOM_FOR_REMARK + 4:
        column = 0  # too far right to align: every remark directly after its line
    blank = f"  {'':>{digits}} {facts.bar} "
    rows = iter(drawn)
    result: list[str] = []
    for line in lines:
        if line is None:
            result.append(facts.paint(f"  {facts.gap:>{digits}}", "quiet"))
        else:
            result += _row(next(rows), f"  {line.line:>{digits}} {facts.bar} ", blank, column, facts)
    return result


def _codes(lines: list[str]) -> list[str]:
    """The lines without tabs, line ends and the part of the indentation that says nothing."""
    flat = [line.replace("\x0c", "").expandtabs(8).rstrip() for line in lines]
    shared = min((len(line) - len(line.lstrip(" ")) for line in flat if line), default=0)
    return [line[max(0, shared - KEPT_INDENT) :] for line in flat]


def _row(shown: Shown, head: str, blank: str, column: int, facts: StreamFacts) -> list[str]:
    """One source line, with its remarks beside it or below it."""
    space = max(facts.width - cells(head), 8)
    code = cut(facts.plain(shown.code), space, facts.ellipsis)
    gutter, under = facts.paint(head, "quiet"), facts.paint(blank, "quiet")
    if not shown.remarks:
        return [(gutter + code).rstrip() if not facts.colour else gutter + code]
    start = max(column, cells(code)) + (2 if code else 0)
    indent = " " * (start + cells(facts.pointer) + 1)
    longest = max(cells(facts.prose(remark)) for _, remark in shown.remarks)
    beside = space - len(indent) >= min(ROOM_FOR_REMARK, longest)
    rows = [] if beside else [gutter + code]
    if not beside:
        start = min(len(code) - len(code.lstrip(" ")) + 2, 12)
        indent = " " * (start + cells(facts.pointer) + 1)
    room = max(facts.width - max(cells(blank), cells(head) if beside else 0) - len(indent), 8)
    for role, remark in shown.remarks:
        for number, text in enumerate(wrap(facts.prose(remark), room)):
            left, front = (gutter, code) if not rows else (under, "")
            mark = "" if number else f"{facts.pointer} "
            pad = " " * (len(indent) - cells(mark) - cells(front))
            rows.append(f"{left}{front}{pad}{facts.paint(mark + text, role)}")
    return rows
