"""A page of the documentation as a sequence of things that a reader does.

A `python` block is a program, a `console` block holds commands and what they print, `toml`, `yaml` and `json`
are settings. A comment directly above a block says what else it is; several marks are joined by `; `:

    file: NAME     a file to write                  exit: N       the commands' exit code, or one for each
    edit: NAME     lines to put into that file      shows: LINE   what that command prints, or a part of it
    continues      goes on where the last           about         … up to the last digits of its numbers
                   program ended                    heavy: WHY    done by `make nightly` only
    tests          a file for pytest                not run: WHY  done by nobody
    serves         commands that serve a page       tree          folders and files that exist

A block inside a comment, `<!-- hidden: KIND`, is done like the others and not shown: what a page takes for
granted. `<!-- hidden: again; file: NAME` writes a file once more as the page wrote it first. A block that is
none of these fails the tests.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_BLOCK = re.compile(
    r"^<!-- hidden: (?P<hidden>[^\n]*)\n(?P<inside>.*?)^-->$"
    r"|(?:^<!-- (?P<marks>[^>\n]*?) -->\n)?^```(?P<kind>[\w-]*)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
_MARKS = {
    *("file", "edit", "exit", "shows", "continues", "about", "heavy", "not run", "tests", "serves", "tree"),
}
SETTINGS = ("toml", "yaml", "json")


@dataclass(frozen=True)
class Write:
    name: str
    text: str


@dataclass(frozen=True)
class Again:
    name: str


@dataclass(frozen=True)
class Edit:
    name: str
    text: str


@dataclass(frozen=True)
class Command:
    line: str
    exit: int = 0
    shown: str = ""
    about: bool = False
    serves: bool = False
    recalls: bool = False
    """What it printed before on this page will do."""


@dataclass(frozen=True)
class Program:
    text: str
    continues: bool = False


@dataclass(frozen=True)
class Suite:
    text: str
    continues: bool = False


@dataclass(frozen=True)
class Settings:
    kind: str
    text: str


@dataclass(frozen=True)
class Tree:
    text: str


@dataclass(frozen=True)
class Nothing:
    """A block that is only to be read, with the reason."""

    why: str
    kind: str
    text: str


Step = Write | Again | Edit | Command | Program | Suite | Settings | Tree | Nothing


class Unaccounted(Exception):
    """A block of which nobody knows what to do with it."""


@dataclass(frozen=True)
class Block:
    kind: str
    text: str
    line: int
    marks: Mapping[str, str] = field(default_factory=dict)

    @property
    def heavy(self) -> bool:
        return "heavy" in self.marks

    def steps(self) -> list[Step]:
        """What a reader does with it."""
        marks = self.marks
        if unknown := set(marks) - _MARKS:
            raise Unaccounted(f"line {self.line}: nothing is known of the mark {sorted(unknown)[0]!r}")
        continues = "continues" in marks
        for mark in ("not run", "heavy"):
            if mark in marks and not marks[mark]:
                raise Unaccounted(f'line {self.line}: "{mark}" needs its reason')
        if "not run" in marks:
            return [Nothing(marks["not run"], self.kind, self.text)]
        if self.kind == "again":
            return [Again(marks["file"])]
        if "file" in marks:
            checked = [Settings(self.kind, self.text)] if self.kind in SETTINGS else []
            return [Write(marks["file"], self.text), *checked]
        if "edit" in marks:
            return [Edit(marks["edit"], self.text)]
        if "tree" in marks:
            return [Tree(self.text)]
        if "tests" in marks:
            return [Suite(self.text, continues)]
        if "shows" in marks:
            exit, about = int(marks.get("exit", 0)), "about" in marks
            return [Command(marks["shows"], exit, self.text, about, recalls=True)]
        if self.kind == "console":
            return list(self._commands())
        if self.kind == "python":
            return [Program(self.text, continues)]
        if self.kind in SETTINGS:
            return [Settings(self.kind, self.text)]
        raise Unaccounted(
            f"line {self.line}: a block of {self.kind or 'no language'} that nobody runs or compares; "
            "tests/docs/walkthrough.py says how to mark it"
        )

    def _commands(self) -> list[Command]:
        said = re.split(r"^\$ ", self.text, flags=re.MULTILINE)
        if said[0] or len(said) == 1:
            raise Unaccounted(f"line {self.line}: a console begins with a command after a dollar")
        exits = [int(number) for number in self.marks.get("exit", "0").split(",")]
        exits *= len(said) - 1 if len(exits) == 1 else 1
        about, serves = "about" in self.marks, "serves" in self.marks
        return [
            Command(line, status, shown, about, serves)
            for (line, _, shown), status in zip(
                (text.partition("\n") for text in said[1:]), exits, strict=True
            )
        ]


def blocks(page: str) -> list[Block]:
    """All blocks of a page in their order, hidden ones included."""
    found = []
    for block in _BLOCK.finditer(page):
        line = page.count("\n", 0, block.start()) + 1
        if block["hidden"] is not None:
            kind, _, marks = block["hidden"].partition("; ")
            found.append(Block(kind, block["inside"], line, _read(marks)))
        else:
            known = _read(block["marks"] or "")
            # A comment that says no mark is a comment: "Written by docs/build.py".
            found.append(Block(block["kind"], block["text"], line, known))
    return found


def _read(text: str) -> dict[str, str]:
    pairs = (mark.partition(": ") for mark in text.split("; ") if mark)
    return {name: value for name, _, value in pairs}
