"""Training scripts with random damage: still programs sometimes, nonsense often."""

from __future__ import annotations

import keyword
import random
import re
from collections.abc import Callable
from pathlib import Path

CORPUS = Path(__file__).parent.parent / "corpus"
SCRIPTS = sorted(CORPUS.glob("*/*.py"))

Lines = list[str]
_NAME = re.compile(r"[A-Za-z_]\w*")


def text_of(script: Path) -> Lines:
    return script.read_text(encoding="utf-8").splitlines()


def _span(lines: Lines, chance: random.Random) -> slice:
    start = chance.randrange(len(lines))
    return slice(start, start + chance.randint(1, 4))


def deleted(lines: Lines, chance: random.Random) -> Lines:
    del lines[_span(lines, chance)]
    return lines


def doubled(lines: Lines, chance: random.Random) -> Lines:
    span = _span(lines, chance)
    at = chance.choice([span.start, chance.randrange(len(lines))])
    return lines[:at] + lines[span] + lines[at:]


def swapped(lines: Lines, chance: random.Random) -> Lines:
    a, b = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]
    return lines


def indented(lines: Lines, chance: random.Random) -> Lines:
    for at in range(*_span(lines, chance).indices(len(lines))):
        lines[at] = chance.choice(["    " + lines[at], lines[at].removeprefix("    "), "\t" + lines[at]])
    return lines


def spliced(lines: Lines, chance: random.Random) -> Lines:
    """The beginning of one script and the end of another."""
    other = text_of(chance.choice(SCRIPTS))
    return lines[: chance.randrange(len(lines))] + other[chance.randrange(len(other)) :]


def renamed(lines: Lines, chance: random.Random) -> Lines:
    """One name becomes another one of the script."""
    names = sorted({name for line in lines for name in _NAME.findall(line) if not keyword.iskeyword(name)})
    if not names:
        return lines
    old, new = chance.choice(names), chance.choice(names)
    return [re.sub(rf"\b{old}\b", new, line) for line in lines]


def renamed_once(lines: Lines, chance: random.Random) -> Lines:
    """One word of one line becomes any word of the script."""
    words = sorted({name for line in lines for name in _NAME.findall(line)})
    if not words:
        return lines
    at = chance.choice([n for n, line in enumerate(lines) if _NAME.search(line)])
    old = chance.choice(_NAME.findall(lines[at]))
    lines[at] = re.sub(rf"\b{old}\b", chance.choice(words), lines[at], count=1)
    return lines


def altered(lines: Lines, chance: random.Random) -> Lines:
    """A number, operator or bracket becomes another one."""
    signs = [
        "0",
        "1",
        "-1",
        "10**9",
        "None",
        "[]",
        "()",
        "*",
        "**",
        "%",
        "//",
        "+",
        "==",
        ".",
        ",",
        ":",
        "@",
        "*x",
    ]
    at = chance.randrange(len(lines))
    found = list(re.finditer(r"\d+|[-+*/%@=<>.,:()\[\]]+", lines[at]))
    if found:
        hit = chance.choice(found)
        lines[at] = lines[at][: hit.start()] + chance.choice(signs) + lines[at][hit.end() :]
    return lines


MUTATIONS: tuple[Callable[[Lines, random.Random], Lines], ...] = (
    deleted,
    doubled,
    swapped,
    indented,
    spliced,
    renamed,
    renamed_once,
    altered,
)


def mutated(chance: random.Random) -> str:
    """A script of the corpus with one to five mutations."""
    lines = text_of(chance.choice(SCRIPTS))
    for _ in range(chance.choice([1, 1, 2, 2, 3, 5])):
        lines = chance.choice(MUTATIONS)(lines, chance) or ["pass"]
    return "\n".join(lines) + "\n"
