"""What the benchmarks found, as tables: printed, and put between the markers of the pages that show them.

A page shows a table between `<!-- measured NAME: begin -->` and `<!-- measured NAME: end -->`. Several pages
may show one table. A benchmark gives its tables one by one, and each is written as soon as it is there.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"


@dataclass(frozen=True)
class Table:
    """Rows of text under a name by which pages ask for them."""

    name: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""

    def markdown(self) -> str:
        """The table as a page holds it."""
        rule = "|---" * len(self.columns) + "|"
        head, *body = ("| " + " | ".join(cells) + " |" for cells in (self.columns, *self.rows))
        text = "\n".join([head, rule, *body])
        return f"{text}\n\n{self.note}" if self.note else text


class BrokenPage(ValueError):
    """A page opens a place for a table and does not close it."""


def spread(values: Sequence[float], form: str = "{:.2f}") -> str:
    """The median with its quartiles."""
    if len(values) < 2:
        return form.format(*values)
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return f"{form.format(middle)} ({form.format(low)} to {form.format(high)})"


def setting(*packages: str) -> str:
    """What the figures were measured with."""
    versions = "".join(f"{name} {metadata.version(name)}, " for name in packages if _installed(name))
    cores = os.cpu_count() or 1
    machine = f"a virtual machine with {cores} core{'s' * (cores > 1)}"
    return f"Measured with {versions}Python {platform.python_version()}, on the CPU of {machine}."


def _installed(package: str) -> bool:
    return any(metadata.distributions(name=package))


def put(table: Table, text: str) -> str:
    """The page with the table at its place; unchanged if it has none."""
    begin, end = (f"<!-- measured {table.name}: {which} -->" for which in ("begin", "end"))
    if begin not in text:
        return text
    head, rest = text.split(begin, 1)
    if end not in rest:
        raise BrokenPage(f"there is no {end} after {begin}")
    return f"{head}{begin}\n\n{table.markdown()}\n\n{end}{rest.split(end, 1)[1]}"


def write(table: Table, docs: Path = DOCS) -> list[Path]:
    """Put the table into every page that has a place for it; which those are."""
    pages = []
    for page in sorted(docs.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        if f"<!-- measured {table.name}: begin -->" in text:
            page.write_text(put(table, text), encoding="utf-8")
            pages.append(page)
    return pages


def present(tables: Iterable[Table], *, keep: bool) -> None:
    """Print the tables as they come, and keep them in their pages."""
    for table in tables:
        print(f"\n{table.name}\n\n{table.markdown()}", flush=True)
        if keep:
            names = ", ".join(page.name for page in write(table)) or "no page asks for it"
            print(f"-> {names}", flush=True)


def run(describe: str | None, measure: Callable[[bool], Iterable[Table]]) -> None:
    """The command line of a benchmark: all of it into the pages, or a quick look that changes no page."""
    parser = argparse.ArgumentParser(
        description=describe, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, few rounds; no page is written")
    arguments = parser.parse_args()
    present(measure(arguments.quick), keep=not arguments.quick)
