"""Write docs/rules.md from the rules and docs/notebooks from the lessons, or check that they are fresh."""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from textwrap import dedent

from gradledger.lessons.catalogue import lessons
from gradledger.rules.catalogue import catalogue
from gradledger.rules.example import PREAMBLE
from gradledger.rules.rule import HEADINGS, Rule
from notebooks import FOLDER, notebooks

PAGE = Path(__file__).with_name("rules.md")

INTRODUCTION = """\
# Rules

<!-- Written by docs/build.py from the rules themselves: change those, then run `make docs`. -->

An **error** means that the update is not what the code says it is; a **warning** that it very likely is
not; **performance** that the result is right but wasteful. The last two columns say which front end sees
the mistake: `gradledger check`, which reads the source, and `gradledger run`, which watches it run.

To allow one finding, write `# gradledger: allow[name]` (or the code) on the line; to leave out a rule
everywhere, name it under `ignore` in `[tool.gradledger]` of pyproject.toml.
"""

SETTING = """\
The examples below run after this setting; `# <- here` marks the line that the finding points at.
"""


def page(rules: Iterable[Rule]) -> str:
    """The whole page."""
    rules = tuple(rules)
    parts = [INTRODUCTION, _table(rules), SETTING, _code(PREAMBLE), *map(_section, rules)]
    return "\n".join(parts)


def _table(rules: Iterable[Rule]) -> str:
    rows = ["| code | name | severity | what is wrong | source | run |", "|---|---|---|---|---|---|"]
    for rule in rules:
        link = f"[{rule.code}](#{_anchor(rule)})"
        cells = (link, rule.name, rule.severity.value, rule.summary, rule.static, rule.runtime)
        rows.append("| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |")
    return "\n".join(rows) + "\n"


def _anchor(rule: Rule) -> str:
    return f"{rule.code} {rule.name}".lower().replace(" ", "-")


def _section(rule: Rule) -> str:
    lead, sections = _explanation(rule)
    lines = [f"## {rule.code} {rule.name}", "", lead, ""]
    lines += [f"Severity: {rule.severity.value}. In the source: {rule.static}. In a run: {rule.runtime}."]
    for heading, text in sections:
        lines += ["", f"**{heading}.** {text}"]
    lines += ["", "Wrong:", "", _code(rule.bad), "Right:", "", _code(rule.good)]
    return "\n".join(lines)


def _explanation(rule: Rule) -> tuple[str, list[tuple[str, str]]]:
    """The lead and the sections of a rule's docstring."""
    blocks = list(_blocks(inspect.cleandoc(type(rule).__doc__ or "")))
    lead = blocks[0][1]
    return lead, [block for block in blocks if block[0] in HEADINGS]


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """The text before the first heading, under an empty one, then each heading with its text."""
    heading, body = "", list[str]()
    for line in text.splitlines():
        if line in HEADINGS:
            yield heading, dedent("\n".join(body)).strip()
            heading, body = line, []
        else:
            body.append(line)
    yield heading, dedent("\n".join(body)).strip()


def _code(source: str) -> str:
    return f"```python\n{source.strip()}\n```\n"


def pages() -> dict[Path, str]:
    """Every derived file and what it must hold."""
    return {PAGE: page(catalogue()), **notebooks(lessons())}


def main(arguments: list[str] | None = None) -> int:
    """Write what has changed; with --check only compare, and fail when something is stale."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a file is stale")
    options = parser.parse_args(arguments)
    wanted = pages()
    stale = [path for path, text in wanted.items() if not _holds(path, text)]
    orphans = [path for path in sorted(FOLDER.glob("*.ipynb")) if path not in wanted]
    names = ", ".join(path.relative_to(PAGE.parent.parent).as_posix() for path in (*stale, *orphans))
    if not names:
        print(f"docs: {len(wanted)} derived files are up to date")
        return 0
    if options.check:
        print(f"stale: {names}: run `make docs`", file=sys.stderr)
        return 1
    for path in stale:
        path.parent.mkdir(exist_ok=True)
        path.write_text(wanted[path], encoding="utf-8", newline="\n")
    for path in orphans:
        path.unlink()
    print(f"wrote {names}")
    return 0


def _holds(path: Path, text: str) -> bool:
    return path.exists() and path.read_bytes() == text.encode("utf-8")


if __name__ == "__main__":
    sys.exit(main())
