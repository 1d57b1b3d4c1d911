"""The parts of a lesson's text: prose, exhibits that run, predictions, plots."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from gradledger.ledger.record import dataclass
from gradledger.lessons.fault import CourseError

if TYPE_CHECKING:
    from gradledger.lessons.exhibit import Exhibit

TOLERANCE = 0.02
"""How far a prediction may be off, relative to the value."""

_BRACES = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_FIELD = re.compile(r"([A-Za-z]\w*)\.(\w+)((?:\[[^\[\]]+\])*)(?::(.*))?")
_DIRECTIVE = re.compile(r"<!--\s*(run|predict|plot):\s*(.*?)\s*-->")
_TARGET = re.compile(r"([A-Za-z]\w*)\.(\w+)")


@dataclass(frozen=True, slots=True)
class Prose:
    """Markdown whose placeholders wait for the values of exhibits."""

    text: str
    path: Path
    line: int

    @property
    def fields(self) -> tuple[tuple[str, str, int], ...]:
        """Each placeholder: exhibit, key, line."""
        return tuple((at[1], at[2], line) for at, line in self._fields())

    def filled(self, values: Mapping[str, Exhibit]) -> str:
        """The Markdown with the values in place."""

        def put(found: re.Match[str]) -> str:
            if found[0] in ("{{", "}}"):
                return found[0][0]
            line = self._line(found.start())
            field = _FIELD.fullmatch(found[1] or "")
            if field is None:
                raise CourseError(self.path, line, _WRONG_BRACE.format(found[0]))
            return self._value(field, values, line)

        return _BRACES.sub(put, self.text)

    def _value(self, field: re.Match[str], values: Mapping[str, Exhibit], line: int) -> str:
        name, key, path, spec = field.groups()
        if name not in values:
            raise CourseError(self.path, line, f"{{{field[0]}}}: the exhibit {name} has not run yet")
        try:
            value: object = values[name].values[key]
            for step in re.findall(r"\[([^\[\]]+)\]", path):
                value = value[step] if isinstance(value, Mapping) else value[int(step)]  # type: ignore[index]
            return format(value, spec or "")
        except (LookupError, ValueError, TypeError) as error:
            raise CourseError(self.path, line, f"{{{field[0]}}}: {type(error).__name__}: {error}") from error

    def _fields(self) -> list[tuple[re.Match[str], int]]:
        found = []
        for brace in _BRACES.finditer(self.text):
            if brace[0] in ("{{", "}}"):
                continue
            field = _FIELD.fullmatch(brace[1] or "")
            if field is None:
                raise CourseError(self.path, self._line(brace.start()), _WRONG_BRACE.format(brace[0]))
            found.append((field, self._line(brace.start())))
        return found

    def _line(self, at: int) -> int:
        return self.line + self.text.count("\n", 0, at)


@dataclass(frozen=True, slots=True)
class Run:
    """Here an exhibit runs: its source is shown, and what it prints."""

    name: str
    line: int


@dataclass(frozen=True, slots=True)
class Predict:
    """Here the reader says a number, or yes or no, before the exhibit reveals it."""

    name: str
    key: str
    question: str
    tolerance: float
    line: int


@dataclass(frozen=True, slots=True)
class Plot:
    """Here a list of numbers (or one for each label) is drawn."""

    name: str
    key: str
    title: str
    x_label: str
    y_label: str
    line: int


Part: TypeAlias = "Prose | Run | Predict | Plot"

_WRONG_BRACE = "{0} is no value of an exhibit ({{name.key}} or {{name.key:.3g}}); a brace itself is doubled"


def parse(body: str, path: Path, first: int) -> tuple[Part, ...]:
    """Cut the text at its directives, and see that each value is used after the exhibit that gives it."""
    parts: list[Part] = []
    prose: list[str] = []
    begun = first
    fence = ""

    def close() -> None:
        text = "\n".join(prose)
        if text.strip():
            skipped = len(text) - len(text.lstrip("\n"))
            parts.append(Prose(text.strip("\n"), path, begun + skipped))
        prose.clear()

    for number, line in enumerate(body.splitlines(), first):
        bare = line.strip()
        if fence:
            fence = "" if bare.startswith(fence) and not bare.strip("`~") else fence
        elif bare.startswith(("```", "~~~")):
            fence = bare[:3]
        elif bare.startswith("<"):
            close()
            begun = number + 1
            parts.append(_directive(bare, path, number))
            continue
        prose.append(line)
    if fence:
        raise CourseError(path, first + len(body.splitlines()) - 1, f"the code block {fence} is never closed")
    close()
    _check_order(parts, path)
    return tuple(parts)


def _directive(text: str, path: Path, line: int) -> Part:
    found = _DIRECTIVE.fullmatch(text)
    if found is None:
        raise CourseError(path, line, f"neither run, predict nor plot, and HTML is not shown: {text}")
    word, *rest = found[1], *(piece.strip() for piece in found[2].split("|"))
    if word == "run":
        if len(rest) != 1 or not re.fullmatch(r"[A-Za-z]\w*", rest[0]):
            raise CourseError(
                path, line, f"<!-- run: NAME --> takes the name of an exhibit, not {found[2]!r}"
            )
        return Run(rest[0], line)
    target = _TARGET.fullmatch(rest[0])
    if target is None:
        raise CourseError(path, line, f"{word} takes NAME.KEY first, not {rest[0]!r}")
    if word == "predict":
        return _predict(target, rest[1:], path, line)
    if len(rest) != 4 or not all(rest):
        raise CourseError(path, line, "<!-- plot: NAME.KEY | TITLE | X LABEL | Y LABEL --> has four pieces")
    return Plot(target[1], target[2], rest[1], rest[2], rest[3], line)


def _predict(target: re.Match[str], rest: list[str], path: Path, line: int) -> Predict:
    if len(rest) not in (1, 2) or not rest[0]:
        raise CourseError(path, line, "<!-- predict: NAME.KEY | QUESTION | TOLERANCE --> lacks its question")
    tolerance = TOLERANCE
    if len(rest) == 2:
        try:
            tolerance = float(rest[1])
        except ValueError:
            raise CourseError(path, line, f"the tolerance {rest[1]!r} is no number") from None
    if not 0 <= tolerance < 1:
        raise CourseError(path, line, f"a tolerance is relative, from 0 to below 1, not {tolerance}")
    return Predict(target[1], target[2], rest[0], tolerance, line)


def _check_order(parts: list[Part], path: Path) -> None:
    shown = {part.name for part in parts if isinstance(part, Run)}
    run: set[str] = set()
    for part in parts:
        match part:
            case Run(name=name, line=line):
                if name in run:
                    raise CourseError(path, line, f"the exhibit {name} was already run above")
                run.add(name)
            case Predict(name=name, line=line):
                if name in run:
                    raise CourseError(
                        path, line, f"the exhibit {name} has run above: nothing is left to predict"
                    )
                if name not in shown:
                    raise CourseError(path, line, f"the exhibit {name} is never run below")
            case Plot(name=name, line=line):
                if name not in run:
                    raise CourseError(path, line, f"the exhibit {name} must run before it is drawn")
            case Prose():
                for name, key, line in part.fields:
                    if name not in run:
                        raise CourseError(path, line, f"{{{name}.{key}}}: no exhibit {name} was run above")
