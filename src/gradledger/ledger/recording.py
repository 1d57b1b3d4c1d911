"""A journal on disk: JSON lines, written and read as a stream.

The first line says what it is. An event is written out in full when it first comes and gets a number; every
further time the line is only that number. Measurements and details, which hardly ever come twice, are written
out each time and have no number. A recording that was cut off is readable up to the cut.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from gradledger.ledger import details
from gradledger.ledger import events as ev
from gradledger.ledger.site import Site

SCHEMA = 1
_KINDS: dict[str, type[ev.Event]] = {
    kind.__name__: kind
    for module in (ev, details)
    for kind in vars(module).values()
    if isinstance(kind, type) and issubclass(kind, ev.Event)
}
_ONCE = (ev.LossMeasured, ev.NormMeasured, details.Detail)
"""Kinds of which each one is different."""
_REMEMBERED = 50_000


class RecordingError(ValueError):
    """This is no recording, or not one this version can read."""


class Recorder:
    """Writes events to a file as they come; a full disk ends the recording, never the program."""

    def __init__(self, path: str | Path, version: str = "") -> None:
        self._path = str(path)
        self._file: TextIO | None = None
        self._numbers: dict[int, tuple[int, ev.Event]] = {}
        self._next = 0
        self._failure: str | None = None
        try:
            self._file = open(path, "w", encoding="utf-8", buffering=1 << 16)  # noqa: SIM115
            header = {"recording": "gradledger", "schema": SCHEMA, "version": version}
            self._file.write(json.dumps(header) + "\n")
            self._file.flush()
        except OSError as error:
            self._fail(error)

    def write(self, event: ev.Event) -> None:
        """Append one event."""
        if self._file is None:
            return
        known = self._numbers.get(id(event))
        try:
            if known is not None:
                self._file.write(f"{known[0]}\n")
                return
            if len(self._numbers) > _REMEMBERED:
                self._numbers.clear()
            self._next += 1
            if not isinstance(event, _ONCE):
                self._numbers[id(event)] = (self._next, event)
            self._file.write(
                json.dumps([self._next, type(event).__name__, _plain(event)], allow_nan=True) + "\n"
            )
        except (OSError, ValueError) as error:
            self._fail(error)

    def close(self) -> list[str]:
        """Finish the file; says what went wrong, if anything did."""
        if self._file is not None:
            try:
                self._file.close()
            except OSError as error:
                self._fail(error)
            self._file = None
        return [] if self._failure is None else [self._failure]

    def _fail(self, error: Exception) -> None:
        reason = getattr(error, "strerror", None) or error
        self._failure = f"the recording {self._path} ends early: {reason}"
        self._file = None


def read(path: str | Path) -> Iterator[ev.Event]:
    """The events of a recording, up to the end or the point where it was cut off."""
    try:
        with open(path, encoding="utf-8") as lines:
            yield from _read(lines, str(path))
    except UnicodeDecodeError as error:
        raise RecordingError(f"{path}: not a recording of gradledger (not text)") from error


def _read(lines: TextIO, path: str) -> Iterator[ev.Event]:
    header = _parsed(lines.readline())
    if not isinstance(header, dict) or header.get("recording") != "gradledger":
        raise RecordingError(f"{path}: not a recording of gradledger")
    if header.get("schema") != SCHEMA:
        raise RecordingError(
            f"{path}: written by gradledger {header.get('version')} with schema {header.get('schema')}; "
            f"this version reads schema {SCHEMA}"
        )
    known: dict[int, ev.Event] = {}
    for number, line in enumerate(lines, 2):
        item = _parsed(line)
        if item is None and not line.endswith("\n"):
            return  # cut off in the middle of a line
        try:
            if isinstance(item, int):
                yield known[item]
            else:
                key, kind, fields = item
                event = _event(kind, fields)
                if not isinstance(event, _ONCE):
                    known[key] = event
                yield event
        except (KeyError, TypeError, ValueError) as error:
            raise RecordingError(f"{path}:{number}: this line is damaged") from error


def _parsed(line: str) -> Any:
    try:
        if line[:-1].isdecimal() and line.isascii():  # by far most lines
            return int(line)
        return json.loads(line)
    except json.JSONDecodeError:
        return None


def _plain(event: ev.Event) -> dict[str, Any]:
    fields = {}
    for field in dataclasses.fields(event):
        value = getattr(event, field.name)
        if isinstance(value, Site):
            value = {"site": [getattr(value, f.name) for f in dataclasses.fields(value)]}
        elif isinstance(value, tuple) and value and isinstance(value[0], details.TensorSeen):
            value = {"tensors": [[t.name, t.shape, t.dtype, t.values] for t in value]}
        if value != field.default:
            fields[field.name] = value
    return fields


def _event(kind: str, fields: dict[str, Any]) -> ev.Event:
    values: dict[str, Any] = {"site": None}
    for name, value in fields.items():
        if isinstance(value, dict):
            value = Site(*value["site"]) if "site" in value else _tensors(value["tensors"])
        elif isinstance(value, list):
            value = tuple(value)
        values[name] = value
    return _KINDS[kind](**values)


def _tensors(rows: list[Any]) -> tuple[details.TensorSeen, ...]:
    return tuple(
        details.TensorSeen(name, tuple(shape), dtype, tuple(values)) for name, shape, dtype, values in rows
    )
