"""A journal on disk: JSON lines, written and read as a stream.

The first line says what it is. An event is written out in full when it first comes and gets a number; every
further time the line is only that number. A loop that repeats itself is a line with the numbers of its
events and how often they came. Measurements and details, which hardly ever come twice, are written out each
time and have no number. A recording that was cut off is readable up to the cut.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from gradledger.ledger import details
from gradledger.ledger import events as ev
from gradledger.ledger.fitting import fitting
from gradledger.ledger.record import dataclass
from gradledger.ledger.site import Site

SCHEMA = 2
"""Since 2 there are lines for what repeats itself."""
_READABLE = (1, 2)
_KINDS: dict[str, type[ev.Event]] = {
    kind.__name__: kind
    for module in (ev, details)
    for kind in vars(module).values()
    if isinstance(kind, type) and issubclass(kind, ev.Event)
}
ONCE = (ev.LossMeasured, ev.NormMeasured, details.Detail)
"""Kinds of which each one is different, and has no number."""
REMEMBERED = 50_000
"""So many kinds of events have numbers; then writer and reader forget them and begin anew."""
MOST_TIMES = 10**9
"""So many events that repeat others are read: with the quickest of steps they take a day to happen."""


class RecordingError(ValueError):
    """This is no recording, or not one this version can read."""


@dataclass(frozen=True, slots=True)
class Repeated:
    """A cycle of events that came so many times in a row."""

    events: tuple[ev.Event, ...]
    times: int


def read(path: str | Path) -> Iterator[ev.Event]:
    """The events of a recording, up to the end or the point where it was cut off."""
    return unfolded(read_folded(path))


def unfolded(items: Iterable[ev.Event | Repeated]) -> Iterator[ev.Event]:
    """Each event as often as it came."""
    left = MOST_TIMES
    for item in items:
        if isinstance(item, Repeated):
            left -= item.times * len(item.events)
            if left < 0:
                raise RecordingError("the recording tells of more events than any run has; it was altered")
            for _ in range(item.times):
                yield from item.events
        else:
            yield item


def read_folded(path: str | Path) -> Iterator[ev.Event | Repeated]:
    """The same, with what repeats itself left together."""
    # What is no text is told with its line, which a decoder that reads ahead does not know.
    with open(path, encoding="utf-8", errors="surrogateescape") as lines:
        yield from _read(lines, str(path))


def _read(lines: Lines, path: str) -> Iterator[ev.Event | Repeated]:
    header = _parsed(lines.readline(4096))
    if not isinstance(header, dict) or header.get("recording") != "gradledger":
        raise RecordingError(f"{path}: not a recording of gradledger")
    if header.get("schema") not in _READABLE:
        raise RecordingError(
            f"{path}: written by gradledger {header.get('version')} with schema {header.get('schema')}; "
            f"this version reads schema {SCHEMA}"
        )
    known: dict[int, ev.Event] = {}
    for number, line in enumerate(lines, 2):
        if not line.endswith("\n"):
            return  # cut off in the middle of a line; half a number is a number, too
        try:
            yield _item(_parsed(line), known)
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
            raise RecordingError(f"{path}:{number}: this line is damaged") from error


def _item(item: Any, known: dict[int, ev.Event]) -> ev.Event | Repeated:
    if type(item) is int:
        return known[item]
    if len(item) == 2:
        numbers, times = item
        if type(times) is not int or times < 0:
            raise ValueError(times)
        return Repeated(tuple(known[number] for number in numbers), times)
    key, kind, fields = item
    if type(key) is not int:
        raise TypeError(key)
    if len(known) > REMEMBERED:
        known.clear()
    event = _event(kind, fields)
    if not isinstance(event, ONCE):
        known[key] = event
    return event


def _parsed(line: str) -> Any:
    try:
        if line[:-1].isdecimal() and line.isascii():  # by far most lines
            return int(line)
        if not line.isascii():
            line.encode()  # fails where bytes were no text
        return json.loads(line)
    except (ValueError, RecursionError):  # no JSON, a number of thousands of digits, brackets in brackets
        return None


def _event(kind: str, fields: dict[str, Any]) -> ev.Event:
    values: dict[str, Any] = {"site": None}
    for name, value in fields.items():
        if isinstance(value, dict):
            value = _site(*value["site"]) if "site" in value else _tensors(value["tensors"])
        elif isinstance(value, list):
            value = tuple(value)
        values[name] = value
    found = _KINDS[kind]
    return found(**fitting(found, values))


@lru_cache(maxsize=4096, typed=True)
def _site(*row: Any) -> Site:
    """The same object for the same line, so that it need be looked at only once."""
    return Site(*row)


def _tensors(rows: list[Any]) -> tuple[details.TensorSeen, ...]:
    tensors = []
    for name, shape, dtype, values in rows:
        row = {"name": name, "shape": tuple(shape), "dtype": dtype, "values": tuple(values)}
        tensors.append(details.TensorSeen(**fitting(details.TensorSeen, row)))
    return tuple(tensors)


class Lines(Protocol):
    """Lines that come one by one, the first of which can be asked for alone."""

    def readline(self, limit: int = -1, /) -> str:
        """The next line."""

    def __iter__(self) -> Iterator[str]:
        """The others."""


def read_lines(lines: Lines, path: str) -> Iterator[ev.Event]:
    """The events of lines that may still be coming."""
    return unfolded(_read(lines, path))
