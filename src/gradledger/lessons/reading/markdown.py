"""Markdown as lines of a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from gradledger.lessons.reading.code import code_lines
from gradledger.lessons.reading.inline import Span, spans_of, wrapped
from gradledger.report.cells import cells
from gradledger.report.style import StreamFacts

if TYPE_CHECKING:
    from markdown_it.token import Token

INDENT = "  "


def parsed(text: str) -> list[Token]:
    """The tokens of the Markdown that the course uses: that of CommonMark, and tables, without HTML."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table").parse(text)


def markdown_blocks(text: str, facts: StreamFacts) -> list[list[str]]:
    """The text's blocks, each a few lines; a heading stays with the block below it."""
    blocks: list[list[str]] = []
    waiting: list[str] = []
    for kind, lines in _blocks(parsed(text), facts):
        if kind == "heading":
            waiting += [*([""] if waiting else []), *lines, ""]
        else:
            blocks.append([*waiting, *lines])
            waiting = []
    return [*blocks, *([waiting[:-1]] if waiting else [])]


def markdown_text(text: str, facts: StreamFacts) -> str:
    """The whole text, its blocks apart by a line."""
    return "\n\n".join("\n".join(block) for block in markdown_blocks(text, facts)) + "\n"


def prose(text: str, facts: StreamFacts, *, first: str = "", rest: str | None = None) -> list[str]:
    """One paragraph of Markdown after a mark, the further lines indented as far."""
    rest = " " * cells(first) if rest is None else rest
    tokens = [token for token in parsed(text) if token.type == "inline"]
    spans: list[Span] = []
    for token in tokens:
        spans += [*([Span(" ")] if spans else []), *spans_of(token.children or (), facts)]
    lines = wrapped(spans, facts.width - cells(rest) - 1, facts)
    return [(rest if number else first) + line for number, line in enumerate(lines)]


def _blocks(tokens: Sequence[Token], facts: StreamFacts, room: int = 0) -> Iterator[tuple[str, list[str]]]:
    """Each block of this level with its kind."""
    width = facts.width - room - 1
    position = 0
    while position < len(tokens):
        token = tokens[position]
        end = _end(tokens, position)
        inside = tokens[position + 1 : end]
        match token.type:
            case "heading_open":
                yield "heading", _heading(token, inside, width, facts)
            case "paragraph_open":
                yield "paragraph", wrapped(spans_of(inside[0].children or (), facts), width, facts)
            case "bullet_list_open" | "ordered_list_open":
                yield "list", _list(token, inside, facts, room)
            case "blockquote_open":
                nested = [line for _, lines in _blocks(inside, facts, room + 2) for line in lines]
                yield "quote", [f"{facts.bar} {line}" for line in nested]
            case "table_open":
                yield "table", _table(inside, width, facts)
            case "fence" | "code_block":
                yield "code", code_lines(token.content, token.info.strip(), facts)
            case "hr":
                yield "rule", ["-" * min(width, 20)]
        position = end + 1


def _end(tokens: Sequence[Token], start: int) -> int:
    """Where the block that begins here ends."""
    depth = 0
    for position in range(start, len(tokens)):
        depth += tokens[position].nesting
        if depth == 0:
            return position
    return len(tokens) - 1


def _heading(token: Token, inside: Sequence[Token], width: int, facts: StreamFacts) -> list[str]:
    plain = [Span(span.text, "code") for span in spans_of(inside[0].children or (), facts)]
    lines = wrapped(plain, width, facts)
    if facts.colour:
        return lines
    mark = {"h1": "=", "h2": "-"}.get(token.tag)
    return [*lines, mark * max(map(cells, lines))] if mark else lines


def _list(token: Token, inside: Sequence[Token], facts: StreamFacts, room: int) -> list[str]:
    lines: list[str] = []
    number = int(token.attrs.get("start", 1))
    position = 0
    while position < len(inside):
        end = _end(inside, position)
        mark = f"{number}. " if token.type.startswith("ordered") else ("• " if facts.unicode else "- ")
        indent = " " * cells(mark)
        blocks = list(_blocks(inside[position + 1 : end], facts, room + len(INDENT) + len(indent)))
        shown = [line for _, block in blocks for line in block]
        lines += [INDENT + (indent if at else mark) + line for at, line in enumerate(shown)]
        number += 1
        position = end + 1
    return lines


def _table(inside: Sequence[Token], width: int, facts: StreamFacts) -> list[str]:
    rows: list[list[list[Span]]] = []
    for before, token in pairwise(inside):
        if before.type == "tr_open":
            rows.append([])
        if token.type == "inline":
            rows[-1].append(spans_of(token.children or (), facts))
    columns = list(zip(*rows, strict=True))
    wanted = [max(_width(cell, facts) for cell in column) for column in columns]
    longest = [max(_longest(cell, facts) for cell in column) for column in columns]
    widths = _shared(wanted, longest, width - 2 * len(columns))
    lines: list[str] = []
    for number, row in enumerate(rows):
        drawn = [wrapped(cell, room, facts) for cell, room in zip(row, widths, strict=True)]
        for at in range(max(map(len, drawn))):
            pieces = (
                (cell[at] if at < len(cell) else "")
                + " " * (room - _seen(cell[at] if at < len(cell) else ""))
                for cell, room in zip(drawn, widths, strict=True)
            )
            lines.append((INDENT + "  ".join(pieces)).rstrip())
        if number == 0:
            lines.append(INDENT + "  ".join("-" * room for room in widths))
    return lines


def _shared(wanted: list[int], longest: list[int], room: int) -> list[int]:
    """Widths that fit into the room: the widest columns give way first, and break words only if they must."""
    widths = list(wanted)
    for least in (longest, [4] * len(wanted)):
        while sum(widths) > room and (able := [n for n, at in enumerate(widths) if at > least[n]]):
            widths[max(able, key=widths.__getitem__)] -= 1
    return widths


def _longest(cell: list[Span], facts: StreamFacts) -> int:
    words = facts.plain("".join(span.text for span in cell)).split()
    return max(map(cells, words), default=0)


def _width(cell: list[Span], facts: StreamFacts) -> int:
    return cells(" ".join(facts.plain("".join(span.text for span in cell)).split()))


def _seen(text: str) -> int:
    """The cells of a line, its colours not counted."""
    import re

    return cells(re.sub(r"\x1b\[[\d;]*m", "", text))
