"""Python source as HTML, one string for each line, with its words marked by what they are."""

from __future__ import annotations

import builtins
import io
import keyword
import tokenize

from gradledger.report.page.safe import text

_KINDS = {tokenize.COMMENT: "c", tokenize.STRING: "s", tokenize.NUMBER: "n"}
_STRINGS = {
    getattr(tokenize, name)
    for name in ("FSTRING_START", "FSTRING_MIDDLE", "FSTRING_END")
    if hasattr(tokenize, name)
}


def code_lines(source: str) -> list[str]:
    """The lines; source that is no whole program is marked as far as it can be read."""
    rows = source.splitlines()
    marks: list[list[tuple[int, int, str]]] = [[] for _ in rows]
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            kind = _kind(token)
            if kind:
                _mark(marks, token, kind)
    except (tokenize.TokenError, SyntaxError):
        pass
    return [_marked(row, spans) for row, spans in zip(rows, marks, strict=True)]


def code_block(source: str) -> str:
    """A block of code."""
    return f'<pre class="code"><code>{chr(10).join(code_lines(source))}</code></pre>'


def _kind(token: tokenize.TokenInfo) -> str:
    if token.type == tokenize.NAME:
        if keyword.iskeyword(token.string):
            return "k"
        return "b" if token.string in dir(builtins) else ""
    return "s" if token.type in _STRINGS else _KINDS.get(token.type, "")


def _mark(marks: list[list[tuple[int, int, str]]], token: tokenize.TokenInfo, kind: str) -> None:
    (first, begin), (last, end) = token.start, token.end
    for row in range(first, last + 1):
        if row <= len(marks):
            marks[row - 1].append((begin if row == first else 0, end if row == last else 10_000, kind))


def _marked(row: str, spans: list[tuple[int, int, str]]) -> str:
    parts, at = [], 0
    for begin, end, kind in spans:
        parts.append(text(row[at:begin]))
        parts.append(f'<span class="{kind}">{text(row[begin:end])}</span>')
        at = end
    return "".join([*parts, text(row[at:])])
