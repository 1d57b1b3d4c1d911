"""A rule explained, and the table of all rules."""

from __future__ import annotations

import inspect
from collections.abc import Sequence

from gradledger.report.cells import cells, wrap
from gradledger.report.excerpt import numbered
from gradledger.report.extract import Shown
from gradledger.report.style import StreamFacts
from gradledger.rules.rule import Rule

MARK = "# <- here"


def rule_text(rule: Rule, facts: StreamFacts) -> str:
    """Everything that is known about one rule, with its examples."""
    severity = rule.severity.value
    title = facts.paint(f"{rule.code} {rule.name}", "code") + f"  {facts.paint(severity, severity)}"
    seen = f"seen by gradledger check: {rule.static}; by gradledger run: {rule.runtime}"
    lines = [title, *_prose(rule.summary, "  ", facts), *_prose(seen, "  ", facts), ""]
    for block in blocks(inspect.getdoc(type(rule)) or "")[1:]:
        lines += [*_block(block, facts), ""]
    lines += [facts.paint("Wrong", "error"), *_example(rule.bad, f"{rule.code} is reported here", facts), ""]
    lines += [facts.paint("Right", "good"), *_example(rule.good, "", facts), ""]
    lines += _prose(f"To allow it on one line:  # gradledger: allow[{rule.name}]", "", facts)
    return "\n".join(lines) + "\n"


def rules_table(rules: Sequence[Rule], facts: StreamFacts) -> str:
    """One row for each rule; where the terminal is narrow, the summary and then more goes below its rule."""
    heads = ("code", "name", "severity", "static", "runtime", "what is wrong")
    rows = [
        (r.code, r.name, r.severity.value, _seen(r.static), _seen(r.runtime), facts.prose(r.summary))
        for r in rules
    ]
    widths = [max(len(row[column]) for row in (heads, *rows)) for column in range(5)]
    left = sum(widths) + 2 * len(widths)
    beside = facts.width - left >= 32
    kept = 5 if left - 2 <= facts.width else 2
    indent = left if beside else widths[0] + 2
    lines: list[str] = []
    for row in (heads, *rows):
        front = "  ".join(f"{text:<{width}}" for text, width in zip(row[:kept], widths, strict=False))
        text = [*(["  ".join(row[kept:5])] if kept < 5 else []), *wrap(row[5], facts.width - indent)]
        first = [f"{front}  {text[0]}"] if beside else [front.rstrip(), " " * indent + text[0]]
        whole = [*first, *(" " * indent + line for line in text[1:])]
        lines += [facts.paint(line, "code") for line in whole] if row is heads else whole
    return "\n".join([*lines, "", *_prose(_LEGEND, "", facts)]) + "\n"


_LEGEND = (
    "static: gradledger check, runtime: gradledger run; partly: only under a condition, "
    "which gradledger explain CODE tells."
)


def _seen(text: str) -> str:
    return text if text in ("yes", "no") else "partly"


def blocks(doc: str) -> list[list[str]]:
    """The docstring cut at its unindented lines: the summary, then each section with its heading."""
    blocks: list[list[str]] = []
    for line in doc.splitlines():
        if line and not line.startswith(" "):
            blocks.append([line])
        elif blocks:
            blocks[-1].append(line)
    return blocks


def _block(block: list[str], facts: StreamFacts) -> list[str]:
    body = inspect.cleandoc("\n".join(["", *block[1:]]))
    lines = [facts.paint(facts.plain(block[0]), "code")]
    for number, paragraph in enumerate(body.split("\n\n")):
        lines += [""] if number else []
        if any(line.startswith((" ", ">")) for line in paragraph.splitlines()):  # code keeps its lines
            lines += ["  " + facts.plain(line.expandtabs()) for line in paragraph.splitlines()]
        else:
            lines += _prose(paragraph, "  ", facts)
    return lines


def _prose(text: str, indent: str, facts: StreamFacts) -> list[str]:
    return [indent + line for line in wrap(facts.prose(text), facts.width - cells(indent))]


def _example(code: str, remark: str, facts: StreamFacts) -> list[str]:
    lines: list[Shown | None] = []
    for number, line in enumerate(code.splitlines(), 1):
        before, mark, _ = line.partition(MARK)
        lines.append(Shown(number, before.rstrip(), [("label", remark)] if mark and remark else []))
    return numbered(lines, facts)
