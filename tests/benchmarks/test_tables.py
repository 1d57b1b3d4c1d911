"""Tables of the benchmarks: how they look, and how they come into the pages."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
MARK = re.compile(r"<!-- measured ([\w-]+): (begin|end) -->")


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("figures.tables")


def test_a_table_replaces_what_stood_between_its_marks(tables: ModuleType, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n\n<!-- measured one: begin -->\nold\n<!-- measured one: end -->\n\nafter\n")
    other = tmp_path / "other.md"
    other.write_text("<!-- measured two: begin -->\n<!-- measured two: end -->\n")
    table = tables.Table("one", ("a", "b"), [("1", "2")], "A note.")
    expected = (
        "before\n\n<!-- measured one: begin -->\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nA note.\n\n"
        "<!-- measured one: end -->\n\nafter\n"
    )
    for _ in range(2):
        assert tables.write(table, tmp_path) == [page]
        assert page.read_text() == expected
    assert "| a |" not in other.read_text()


def test_a_page_without_the_second_mark_is_refused(tables: ModuleType, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- measured one: begin -->\nthe rest of the page\n")
    with pytest.raises(tables.BrokenPage, match="measured one: end"):
        tables.write(tables.Table("one", ("a",), []), tmp_path)
    assert page.read_text() == "<!-- measured one: begin -->\nthe rest of the page\n"


def test_the_spread_is_the_median_and_the_quartiles(tables: ModuleType) -> None:
    assert tables.spread([5.0, 1.0, 2.0, 4.0, 3.0]) == "3.00 (2.00 to 4.00)"
    assert tables.spread([1.5], "{:.1f}") == "1.5"


def test_every_place_in_the_pages_is_closed_and_filled_by_a_benchmark() -> None:
    sources = "".join(path.read_text() for path in (ROOT / "benchmarks").glob("*.py"))
    given = set(re.findall(r'Table\(\s*"([\w-]+)"', sources))
    asked: set[str] = set()
    for page in (ROOT / "docs").rglob("*.md"):
        marks = MARK.findall(page.read_text())
        assert marks[::2] == [(name, "begin") for name, _ in marks[::2]], page
        assert marks[1::2] == [(name, "end") for name, _ in marks[::2]], page
        asked |= {name for name, _ in marks}
    assert asked == given


def test_load_and_growth_measure_in_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    load, growth = (importlib.import_module(name) for name in ("load", "growth"))
    assert [count for count, _, _ in load.many_steps("never the same", [3, 6])] == [3, 6]
    ratios, memory = load.in_turns("together", 2, 1, 2)
    assert len(ratios) == 1
    assert memory > 0
    assert load.side_by_side(2, 1, 5)[1] == 10
    small = growth.Growth("check", "line", 40, growth.check_lines)
    assert {factor: len(found) for factor, found in growth.measured(small, (2,), 2).items()} == {2: 2}
    for name in ("load", "growth"):
        sys.modules.pop(name)
