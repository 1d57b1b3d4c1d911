"""The explanation of a rule as HTML."""

from __future__ import annotations

import inspect

from gradledger.report.page.safe import code, text
from gradledger.report.rule_text import MARK, blocks
from gradledger.rules.catalogue import find


def explained(rule_code: str) -> str:
    """What `gradledger explain` says, or nothing for a rule this version does not know."""
    rule = find(rule_code)
    if rule is None:
        return ""
    parts = [_section(block) for block in blocks(inspect.getdoc(type(rule)) or "")[1:]]
    parts.append(
        '<div class="pair">'
        f'<figure class="wrong"><figcaption>Wrong</figcaption>{_example(rule.bad)}</figure>'
        f'<figure class="right"><figcaption>Right</figcaption>{_example(rule.good)}</figure></div>'
        f"<p>Meant so? Allow it on the line: <code># gradledger: allow[{text(rule.name)}]</code></p>"
    )
    return f'<div class="explained">{"".join(parts)}</div>'


def _section(block: list[str]) -> str:
    body = inspect.cleandoc("\n".join(["", *block[1:]]))
    parts = [f"<h4>{text(block[0])}</h4>"]
    for paragraph in body.split("\n\n"):
        lines = paragraph.splitlines()
        if any(line.startswith((" ", ">")) for line in lines):
            parts.append(f"<pre>{text(inspect.cleandoc(paragraph)).replace(chr(92) + 'x0a', chr(10))}</pre>")
        else:
            parts.append(f"<p>{prose(' '.join(lines))}</p>")
    return "".join(parts)


def prose(words: str) -> str:
    """Words between backquotes are code."""
    pieces = text(words).split("`")
    if len(pieces) % 2 == 0:
        return "`".join(pieces)
    return "".join(f"<code>{p}</code>" if n % 2 else p for n, p in enumerate(pieces))


def _example(program: str) -> str:
    rows = []
    for line in program.splitlines():
        before, mark, _ = line.partition(MARK)
        shown = code(before)
        rows.append(f"<mark>{shown}</mark>" if mark else shown)
    return f"<pre>{chr(10).join(rows)}</pre>"
