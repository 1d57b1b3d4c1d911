"""Words with a style, wrapped by the cells they take."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from gradledger.ledger.record import dataclass
from gradledger.report.cells import cells, wrap
from gradledger.report.style import StreamFacts

if TYPE_CHECKING:
    from markdown_it.token import Token


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of text in one style: a role of the stream's colours, or none."""

    text: str
    role: str = ""


def spans_of(tokens: Iterable[Token], facts: StreamFacts) -> list[Span]:
    """The spans of an inline text; what colour cannot say is said by marks."""
    spans: list[Span] = []
    bold = leaning = 0
    links: list[str] = []
    for token in tokens:
        match token.type:
            case "text":
                spans.append(Span(token.content, "code" if bold else "emphasis" if leaning else ""))
            case "code_inline":
                spans.append(Span(token.content, "related") if facts.colour else Span(f"`{token.content}`"))
            case "softbreak" | "hardbreak":
                spans.append(Span(" "))
            case "strong_open" | "strong_close":
                bold += token.nesting
                spans += [] if facts.colour else [Span("*")]
            case "em_open" | "em_close":
                leaning += token.nesting
                spans += [] if facts.colour else [Span("_")]
            case "link_open":
                links.append(str(token.attrs.get("href", "")))
            case "link_close":
                spans.append(Span(f" ({destination(links.pop())})", "quiet"))
    return spans


def destination(href: str) -> str:
    """Where a link leads, as a reader at a terminal gets there."""
    if found := re.fullmatch(r"l(\d\d)", href):
        return f"gradledger learn read {int(found[1])}"
    if found := re.fullmatch(r"m(\d\d)", href):
        return f"gradledger learn myths {int(found[1])}"
    if re.fullmatch(r"GL\d{3}", href):
        return f"gradledger explain {href}"
    return href


def wrapped(spans: Sequence[Span], width: int, facts: StreamFacts) -> list[str]:
    """The spans in lines of at most this width; at least one line."""
    lines: list[list[Span]] = [[]]
    used = 0
    for word in _words(spans):
        size = sum(cells(facts.plain(span.text)) for span in word)
        if used and used + 1 + size > width:
            lines.append([])
            used = 0
        if size > width:  # a word that fits on no line loses its style
            pieces = wrap(facts.plain("".join(span.text for span in word)), width)
            lines[-1:] = [[Span(piece)] for piece in pieces]
            used = cells(pieces[-1])
            continue
        lines[-1] += [*([Span(" ")] if used else []), *word]
        used += size + bool(used)
    return [_painted(line, facts) for line in lines]


def _words(spans: Sequence[Span]) -> list[list[Span]]:
    words: list[list[Span]] = []
    begun = False
    for span in spans:
        for piece in re.findall(r"\s+|\S+", span.text):
            if piece.isspace():
                begun = False
            elif begun:
                words[-1].append(Span(piece, span.role))
            else:
                words.append([Span(piece, span.role)])
                begun = True
    return words


def _painted(line: list[Span], facts: StreamFacts) -> str:
    text, role = "", ""
    done: list[str] = []
    for number, span in enumerate(line):
        following = line[number + 1].role if number + 1 < len(line) else ""
        own = role if span.text == " " and role == following else span.role  # one style across the space
        if own != role:
            done.append(facts.paint(text, role) if role else text)
            text, role = "", own
        text += facts.plain(span.text)
    done.append(facts.paint(text, role) if role else text)
    return "".join(done)
