"""The TOML at the head of a text, between two lines `+++`, and TOML files; errors tell the line."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gradledger.ledger.record import dataclass
from gradledger.lessons.fault import CourseError

_toml = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
_LINE = re.compile(r"\(at line (\d+), column \d+\)")
_NAMES = {str: "a string", int: "a whole number", bool: "true or false", list: "a list of strings"}


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a TOML file, which knows where it came from."""

    values: Mapping[str, Any]
    path: Path
    line: int

    def take(self, key: str, kind: type, default: Any = None) -> Any:
        """The value under a key, of the right type; without a default the key must be there."""
        value = self.values.get(key, default)
        if value is None:
            raise self.fault(f'"{key}" is missing', key)
        good = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
        if not good or (kind is list and not all(isinstance(item, str) for item in value)):
            raise self.fault(f'"{key}" must be {_NAMES[kind]}, not {value!r}', key)
        return value

    def only(self, *known: str) -> Table:
        """This table, if it has no other keys."""
        for key in self.values:
            if key not in known:
                raise self.fault(f'nobody reads "{key}" (known: {", ".join(known)})', key)
        return self

    def fault(self, problem: str, key: str = "") -> CourseError:
        """An error at the line of this key, or of this table."""
        line = self.line
        if key:
            text = self.path.read_text(encoding="utf-8").splitlines()
            assigned = re.compile(rf"\s*(\[\[?)?{re.escape(key)}\s*[=\]]")
            line = next((n for n, at in enumerate(text[line - 1 :], line) if assigned.match(at)), line)
        return CourseError(self.path, line, problem)


def toml_file(path: Path) -> Table:
    """A whole file of TOML."""
    return Table(_parsed(_text(path), path, 1), path, 1)


def fronted(path: Path) -> tuple[Table, str, int]:
    """The table at the head of a text, the text below it, and the line on which that begins."""
    lines = _text(path).splitlines()
    if not lines or lines[0].strip() != "+++":
        raise CourseError(path, 1, 'the first line must be "+++", the head of the file in TOML follows')
    end = next((n for n, line in enumerate(lines[1:], 1) if line.strip() == "+++"), None)
    if end is None:
        raise CourseError(path, 1, 'the head that begins here is not closed by another line "+++"')
    table = Table(_parsed("\n".join(lines[1:end]), path, 2), path, 2)
    return table, "\n".join(lines[end + 1 :]), end + 2


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise CourseError(path, 1, f"cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise CourseError(path, 1, f"is not UTF-8: {error.reason}") from error


def _parsed(text: str, path: Path, first: int) -> Mapping[str, Any]:
    try:
        table: Mapping[str, Any] = _toml.loads(text)
    except ValueError as error:
        found = _LINE.search(str(error))
        line = first + (int(found[1]) - 1 if found else text.count("\n"))
        raise CourseError(path, line, f"no TOML: {_LINE.sub('', str(error)).strip()}") from error
    return table
