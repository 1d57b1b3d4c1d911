"""Where the program stands in a notebook: the source strings of its code cells, with their places."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from gradledger.ledger.record import dataclass

_SPACE = re.compile(r"[ \t\n\r]*")
_VALUE = json.JSONDecoder(strict=False)
_PYTHON = re.compile(r"(i?python|pyspark|sage)", re.IGNORECASE)


class NotebookError(ValueError):
    """A text that is no notebook: at which line of the file, and why."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Piece:
    """One JSON string of a cell's source, from its opening quote to behind its closing one."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class CodeCell:
    """One code cell."""

    number: int
    """Its position among all cells, from 1."""
    pieces: tuple[Piece, ...]
    listed: bool
    """Whether the source is a list of strings, as Jupyter saves it, and not one string."""

    @property
    def text(self) -> str:
        """The whole source."""
        return "".join(piece.text for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class Cells:
    """The code cells of a notebook, none if its kernel speaks another language."""

    python: bool
    code: tuple[CodeCell, ...]


def notebook_cells(text: str) -> Cells:
    """Find all code cells; raises NotebookError where the text is no notebook."""
    try:
        return _notebook(text)
    except json.JSONDecodeError as error:
        raise NotebookError(error.lineno, f"is not valid JSON ({error.msg})") from error
    except RecursionError as error:
        raise NotebookError(1, "is nested too deeply to be a notebook") from error


def _notebook(text: str) -> Cells:
    whole, end = _fields(text, _space(text, 0))
    if _space(text, end) != len(text):
        raise json.JSONDecodeError("Extra data", text, end)
    lists = [whole["cells"]] if "cells" in whole else []
    if not lists and isinstance(whole.get("worksheets", (0, None))[1], list):  # before format 4
        sheets = [_fields(text, start)[0] for start, _, _ in _items(text, whole["worksheets"][0])]
        lists = [sheet["cells"] for sheet in sheets if "cells" in sheet]
    if any(not isinstance(value, list) for _, value in lists) or not (lists or "nbformat" in whole):
        raise NotebookError(1, "has no list of cells, so it is no notebook")
    metadata = whole.get("metadata", (0, None))[1]
    if not _speaks_python(metadata):
        return Cells(python=False, code=())
    found: list[CodeCell] = []
    number = 0
    for place, _ in lists:
        for start, _, cell in _items(text, place):
            number += 1
            if isinstance(cell, dict) and cell.get("cell_type") == "code" and _is_python(cell):
                found.append(_code_cell(text, start, number))
    return Cells(python=True, code=tuple(found))


def _code_cell(text: str, start: int, number: int) -> CodeCell:
    fields, _ = _fields(text, start)
    place, source = fields.get("source") or fields.get("input") or (start, None)
    line = text.count("\n", 0, place) + 1
    if isinstance(source, str):
        _, end = _VALUE.raw_decode(text, place)
        return CodeCell(number, (Piece(place, end, source),), listed=False)
    if not isinstance(source, list) or not all(isinstance(item, str) for item in source):
        raise NotebookError(line, f"has no source in cell {number}")
    pieces = tuple(Piece(begin, end, str(value)) for begin, end, value in _items(text, place))
    return CodeCell(number, pieces, listed=True)


def _speaks_python(metadata: object) -> bool:
    spec, info = _sub(metadata, "kernelspec"), _sub(metadata, "language_info")
    language = info.get("name") or spec.get("language")
    return not isinstance(language, str) or _PYTHON.match(language) is not None


def _is_python(cell: Mapping[str, object]) -> bool:
    language = _sub(_sub(cell, "metadata"), "vscode").get("languageId") or cell.get("language")
    return not isinstance(language, str) or _PYTHON.match(language) is not None


def _sub(value: object, key: str) -> Mapping[str, object]:
    found = value.get(key) if isinstance(value, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _fields(text: str, at: int) -> tuple[dict[str, tuple[int, object]], int]:
    """The fields of an object with the place of each value, and where the object ends."""
    if text[at : at + 1] != "{":
        raise json.JSONDecodeError("Expecting an object", text, at)
    found: dict[str, tuple[int, object]] = {}
    at = _space(text, at + 1)
    while text[at : at + 1] != "}" or found:
        key, at = _VALUE.raw_decode(text, at)
        at = _space(text, at)
        if not isinstance(key, str) or text[at : at + 1] != ":":
            raise json.JSONDecodeError("Expecting a name and ':'", text, at)
        at = _space(text, at + 1)
        value, end = _VALUE.raw_decode(text, at)
        found[key] = at, value
        at = _space(text, end)
        if text[at : at + 1] == "}":
            break
        at = _after_comma(text, at)
    return found, at + 1


def _items(text: str, at: int) -> list[tuple[int, int, object]]:
    """The items of the array that begins there, each with its beginning and its end."""
    found: list[tuple[int, int, object]] = []
    at = _space(text, at + 1)
    while text[at : at + 1] != "]" or found:
        value, end = _VALUE.raw_decode(text, at)
        found.append((at, end, value))
        at = _space(text, end)
        if text[at : at + 1] == "]":
            break
        at = _after_comma(text, at)
    return found


def _after_comma(text: str, at: int) -> int:
    if text[at : at + 1] != ",":
        raise json.JSONDecodeError("Expecting ','", text, at)
    return _space(text, at + 1)


def _space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return at if match is None else match.end()
