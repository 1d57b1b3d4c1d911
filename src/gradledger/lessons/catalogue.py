"""All lessons, myths and terms, found by looking into the folders."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TypeVar

from gradledger.ledger.record import dataclass
from gradledger.lessons.front import Table, toml_file
from gradledger.lessons.lesson import Lesson, Myth, read_lesson, read_myth

HERE = Path(__file__).parent

_Member = TypeVar("_Member", Lesson, Myth)


class UnknownPartError(LookupError):
    """No lesson, myth or term has this name."""

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the glossary."""

    name: str
    text: str
    lesson: str
    """The id of the lesson that tells more."""


@cache
def lessons() -> tuple[Lesson, ...]:
    """Every lesson, in order."""
    return tuple(map(read_lesson, _folders(HERE / "course", "lesson.md")))


@cache
def myths() -> tuple[Myth, ...]:
    """Every myth, in order."""
    return tuple(map(read_myth, _folders(HERE / "myths", "myth.md")))


@cache
def glossary() -> tuple[Term, ...]:
    """Every term, by the alphabet."""
    path = HERE / "glossary.toml"
    if not path.exists():
        return ()
    whole = toml_file(path).only("term")
    text = path.read_text(encoding="utf-8").splitlines()
    lines = [number for number, line in enumerate(text, 1) if line.strip() == "[[term]]"]
    terms = (
        _term(Table(term, path, at)) for term, at in zip(whole.values.get("term", ()), lines, strict=True)
    )
    return tuple(sorted(terms, key=lambda term: term.name.lower()))


def lesson(name: str | int) -> Lesson:
    """The lesson of this number, id or name, or the one that explains the rule of this code."""
    code = str(name).strip().upper()
    if re.fullmatch(r"GL\d{3}", code):
        about = [(one.codes.index(code), one.number, one) for one in lessons() if code in one.codes]
        if not about:
            raise UnknownPartError(f"no lesson explains {code}; see gradledger explain {code}")
        return min(about)[2]
    return _one(lessons(), name, "lesson")


def myth(name: str | int) -> Myth:
    """The myth of this number, id or name."""
    return _one(myths(), name, "myth")


def _one(members: tuple[_Member, ...], name: str | int, what: str) -> _Member:
    wanted = str(name).strip().lower().replace("-", "_")
    for member in members:
        names = {
            member.id,
            member.slug,
            f"{member.id}_{member.slug}",
            str(member.number),
            f"{member.number:02}",
        }
        if wanted in names:
            return member
    numbers = ", ".join(str(member.number) for member in members) or "none"
    raise UnknownPartError(f'there is no {what} "{name}" (there are: {numbers})')


def _folders(root: Path, file: str) -> list[Path]:
    inside = root.iterdir() if root.is_dir() else ()
    return sorted(path for path in inside if re.match(r"[lm]\d\d_", path.name) and (path / file).exists())


def _term(table: Table) -> Term:
    table.only("name", "text", "lesson")
    return Term(table.take("name", str), table.take("text", str), table.take("lesson", str))
