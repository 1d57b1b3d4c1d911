"""A lesson and a myth, as their folders tell them."""

from __future__ import annotations

import re
from pathlib import Path

from gradledger.ledger.record import dataclass
from gradledger.lessons.fault import CourseError
from gradledger.lessons.front import fronted
from gradledger.lessons.parts import Part, Plot, Predict, Prose, Run, parse

__all__ = ["Lesson", "Myth", "Part", "Plot", "Predict", "Prose", "Run", "read_lesson", "read_myth"]

_FOLDER = re.compile(r"([lm]\d\d)_(\w+)")
_CODE = re.compile(r"GL\d{3}")


@dataclass(frozen=True, slots=True)
class Lesson:
    """One lesson: what its head says, and its text in parts."""

    id: str
    """The folder's prefix, such as l07."""
    slug: str
    """The rest of the folder's name."""
    title: str
    summary: str
    minutes: int
    needs: tuple[str, ...]
    """The lessons it builds on, by id."""
    next: tuple[str, ...]
    codes: tuple[str, ...]
    """The rules it explains."""
    parts: tuple[Part, ...]
    folder: Path

    @property
    def number(self) -> int:
        """The 7 of l07."""
        return int(self.id[1:])


@dataclass(frozen=True, slots=True)
class Myth:
    """Something many believe, and the experiment that decides."""

    id: str
    slug: str
    claim: str
    truth: bool
    lesson: str
    """The id of the lesson that tells more."""
    parts: tuple[Part, ...]
    folder: Path

    @property
    def number(self) -> int:
        """The 3 of m03."""
        return int(self.id[1:])


def read_lesson(folder: Path) -> Lesson:
    """Read `lesson.md`."""
    path = folder / "lesson.md"
    head, body, first = fronted(path)
    head.only("title", "summary", "minutes", "needs", "next", "codes")
    codes = tuple(head.take("codes", list, []))
    for code in codes:
        if not _CODE.fullmatch(code):
            raise head.fault(f"{code!r} is no code of a rule (GL101)", "codes")
    minutes = head.take("minutes", int)
    if minutes < 1:
        raise head.fault(f"{minutes} minutes are too few", "minutes")
    name, slug = _named(folder)
    return Lesson(
        id=name,
        slug=slug,
        title=head.take("title", str),
        summary=head.take("summary", str),
        minutes=minutes,
        needs=tuple(head.take("needs", list, [])),
        next=tuple(head.take("next", list, [])),
        codes=codes,
        parts=parse(body, path, first),
        folder=folder,
    )


def read_myth(folder: Path) -> Myth:
    """Read `myth.md`."""
    path = folder / "myth.md"
    head, body, first = fronted(path)
    head.only("claim", "truth", "lesson")
    name, slug = _named(folder)
    return Myth(
        id=name,
        slug=slug,
        claim=head.take("claim", str),
        truth=head.take("truth", bool),
        lesson=head.take("lesson", str),
        parts=parse(body, path, first),
        folder=folder,
    )


def _named(folder: Path) -> tuple[str, str]:
    found = _FOLDER.fullmatch(folder.name)
    if found is None:
        raise CourseError(folder, 1, "a folder of the course is named like l07_once_per_window or m03_slug")
    return found[1], found[2]
