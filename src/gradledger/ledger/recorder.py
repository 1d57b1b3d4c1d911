"""Writing a journal to disk while a program runs: see recording.py for the form.

Lines are collected and written together, at the latest with the first event that comes a second after the
last writing; so a program that is killed loses a bounded tail, and what stands in the file are whole lines.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from io import FileIO
from pathlib import Path
from time import monotonic
from typing import Any

from gradledger.ledger import events as ev
from gradledger.ledger.details import TensorSeen
from gradledger.ledger.recording import ONCE, REMEMBERED, SCHEMA
from gradledger.ledger.site import Site

MOST_LINES = 512
SECONDS = 1.0


class Recorder:
    """Writes events to a file as they come; a full disk ends the recording, never the program."""

    def __init__(self, path: str | Path, version: str = "") -> None:
        self._path = str(path)
        self._file: FileIO | None = None
        self._numbers: dict[int, tuple[str, ev.Event]] = {}
        self._next = 0
        self._failure: str | None = None
        self._lines: list[str] = []
        self._due = 0.0
        header = {"recording": "gradledger", "schema": SCHEMA, "version": version}
        try:
            self._file = open(path, "wb", buffering=0)  # noqa: SIM115
            self._put(json.dumps(header) + "\n")
        except OSError as error:
            self._fail(error)

    def write(self, event: ev.Event) -> None:
        """Append one event."""
        known = self._numbers.get(id(event))
        self._lines.append(self._new(event) if known is None else known[0])
        if len(self._lines) >= MOST_LINES or monotonic() >= self._due:
            self.flush()

    def repeat(self, events: Sequence[ev.Event], times: int) -> None:
        """Append a cycle of events so many times: the first time in full, the others in one line."""
        for event in events if times else ():
            self.write(event)
        known = [self._numbers.get(id(event)) for event in events]
        numbers = [entry[0][:-1] for entry in known if entry is not None]
        if len(numbers) == len(events) and times > 2:
            self._lines.append(f"[[{','.join(numbers)}],{times - 1}]\n")
        else:
            for event in [*events] * (times - 1):
                self.write(event)

    def flush(self) -> None:
        """Write what has been collected."""
        lines, self._lines = self._lines, []
        try:
            self._put("".join(lines))
        except (OSError, ValueError) as error:
            self._fail(error)

    def close(self) -> list[str]:
        """Finish the file; says what went wrong, if anything did."""
        self.flush()
        if self._file is not None:
            try:
                self._file.close()
            except OSError as error:
                self._fail(error)
            self._file = None
        return [] if self._failure is None else [self._failure]

    def disown(self) -> None:
        """Leave the file to the process this one was forked from."""
        if self._file is not None:
            self._file.close()
        self._file = None

    def _new(self, event: ev.Event) -> str:
        if len(self._numbers) > REMEMBERED:
            self._numbers.clear()
        self._next += 1
        if not isinstance(event, ONCE):
            self._numbers[id(event)] = f"{self._next}\n", event
        kind = type(event)
        return f'[{self._next}, "{kind.__name__}", {_encode(_plain(event))}]\n'

    def _put(self, text: str) -> None:
        self._due = monotonic() + SECONDS
        data = memoryview(text.encode("ascii"))
        while data and self._file is not None:
            data = data[self._file.write(data) :]

    def _fail(self, error: Exception) -> None:
        reason = getattr(error, "strerror", None) or error
        self._failure = f"the recording {self._path} ends early: {reason}"
        if self._file is not None:
            with suppress(OSError):  # left open, it would be warned of in the audited program
                self._file.close()
        self._file = None


_encode: Callable[[Any], str] = json.JSONEncoder().encode
_FIELDS: dict[type, tuple[tuple[str, Any], ...]] = {}
"""Of each kind the names of its fields and what they are unless told."""


def _plain(event: ev.Event) -> dict[str, Any]:
    kind = type(event)
    known = _FIELDS.get(kind)
    if known is None:
        known = _FIELDS[kind] = tuple((field.name, field.default) for field in dataclasses.fields(kind))
    told = {}
    for name, default in known:
        value = getattr(event, name)
        if value is default:
            continue
        if isinstance(value, Site):
            value = {"site": _row(value)}
        elif isinstance(value, tuple) and value and isinstance(value[0], TensorSeen):
            value = {"tensors": [[t.name, t.shape, t.dtype, t.values] for t in value]}
        if value != default:
            told[name] = value
    return told


def _row(site: Site) -> list[Any]:
    return [getattr(site, field.name) for field in dataclasses.fields(Site)]
