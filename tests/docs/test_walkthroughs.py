"""The pages do what they say: every file, every command, every program, every setting."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from gradledger.rules.catalogue import catalogue
from gradledger.rules.example import PREAMBLE
from tests.docs.reader import ROOT, Reader, edited
from tests.docs.walkthrough import Block, Command, Edit, Nothing, Program, Suite, Unaccounted, Write, blocks

DERIVED = ROOT / "docs" / "rules.md"
PAGES = sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "examples" / "README.md"} - {DERIVED})
HEAVY = bool(os.environ.get("GRADLEDGER_HEAVY"))


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks_of(page: Path) -> list[Block]:
    return blocks(page.read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if blocks_of(page)], ids=name_of)
def test_a_reader_who_does_everything_gets_what_the_page_says(page: Path, tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    for block in blocks_of(page):
        if HEAVY or not block.heavy:
            for step in block.steps():
                try:
                    reader.do(step)
                except AssertionError as error:
                    pytest.fail(f"{name_of(page)}:{block.line}: {error}", pytrace=False)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_block_is_overlooked(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    shown = [block for block in blocks_of(page) if "```" not in block.text]
    fences = re.findall(r"^\s*(?:```|~~~)", text, re.MULTILINE)
    hidden = len(re.findall(r"^<!-- hidden: ", text, re.MULTILINE))
    assert len(fences) == 2 * (len(shown) - hidden), "a block that is indented, nested or not closed"
    for block in shown:
        block.steps()


def test_the_examples_of_the_rules_are_those_that_are_run_as_tests() -> None:
    shown = [block.text.strip() for block in blocks_of(DERIVED)]
    run = [text.strip() for rule in catalogue() for text in (rule.bad, rule.good)]
    assert shown == [PREAMBLE.strip(), *run]


def test_marks_say_what_a_block_is() -> None:
    page = (
        "<!-- file: a.py -->\n```python\nx = 1\n```\ntext\n"
        "<!-- exit: 1, 0 -->\n```console\n$ one\nits output\n$ two\n```\n"
        "```python\nprint(1)\n```\n<!-- continues -->\n```python\nprint(2)\n```\n"
        "<!-- hidden: console; exit: 3\n$ three\n-->\n"
        "<!-- shows: one; exit: 1; about -->\n```text\nsaid\n```\n"
        "<!-- not run: no wish -->\n```lua\nx\n```\n<!-- edit: a.py -->\n```python\nx = 1  # why\n```\n"
        "<!-- tests -->\n```python\ndef test(): ...\n```\n"
    )
    assert [step for block in blocks(page) for step in block.steps()] == [
        Write("a.py", "x = 1\n"),
        Command("one", 1, "its output\n"),
        Command("two", 0),
        Program("print(1)\n"),
        Program("print(2)\n", continues=True),
        Command("three", 3),
        Command("one", 1, "said\n", about=True, recalls=True),
        Nothing("no wish", "lua", "x\n"),
        Edit("a.py", "x = 1  # why\n"),
        Suite("def test(): ...\n"),
    ]


@pytest.mark.parametrize(
    ("page", "why"),
    [
        ("```text\nsaid\n```\n", "nobody runs or compares"),
        ("```\n$ gradledger\n```\n", "no language"),
        ("```lua\nx\n```\n", "a block of lua"),
        ("<!-- not run -->\n```lua\nx\n```\n", "needs its reason"),
        ("<!-- fiel: a.py -->\n```python\nx\n```\n", "mark 'fiel'"),
        ("```console\ngradledger\n```\n", "after a dollar"),
    ],
)
def test_a_block_that_is_neither_run_nor_excused_is_refused(page: str, why: str) -> None:
    (block,) = blocks(page)
    with pytest.raises(Unaccounted, match=re.escape(why)):
        block.steps()


def test_lines_are_put_into_a_file_at_their_place() -> None:
    text = "for _ in x:\n    a()\n    b()\nfor _ in y:\n    b()\n"
    assert edited(text, "new()\nb()  # why\nb()\n") == (
        "for _ in x:\n    a()\n    new()\n    b()  # why\nfor _ in y:\n    b()\n"
    )
    with pytest.raises(AssertionError, match="no line of the file"):
        edited(text, "b()\nnew()\n")
