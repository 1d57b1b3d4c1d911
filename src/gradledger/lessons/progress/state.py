"""What the reader has done, as plain data, and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradledger.ledger.record import dataclass, field

VERSION = 1


class UnreadableError(ValueError):
    """A file of progress that makes no sense."""


class NewerError(ValueError):
    """A file of progress that a later gradledger wrote."""


@dataclass(frozen=True, slots=True)
class Place:
    """How far a lesson was read: the part to go on with, of how many."""

    part: int
    parts: int
    done: bool = False


@dataclass(frozen=True, slots=True)
class Score:
    """The latest round through a quiz, or through the predictions of a lesson."""

    right: int
    of: int


@dataclass(frozen=True, slots=True)
class Card:
    """A question to be asked again: its box, and when it is due (seconds since 1970)."""

    box: int
    due: float


@dataclass(frozen=True, slots=True)
class Exercise:
    """A script under repair: where the reader's copy lies, and whether it was found right."""

    path: str
    done: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    """Everything that is kept; each mapping by the id of its lesson, myth or question."""

    last: str | None = None
    """The lesson that was read last."""
    places: Mapping[str, Place] = field(default_factory=dict)
    quizzes: Mapping[str, Score] = field(default_factory=dict)
    predictions: Mapping[str, Score] = field(default_factory=dict)
    myths: Mapping[str, Score] = field(default_factory=dict)
    repairs: Mapping[str, Exercise] = field(default_factory=dict)
    cards: Mapping[str, Card] = field(default_factory=dict)
    """By lesson and question: l07.tail."""


_KINDS: Mapping[str, Any] = {
    "places": Place,
    "quizzes": Score,
    "predictions": Score,
    "myths": Score,
    "repairs": Exercise,
    "cards": Card,
}
_TYPES: Mapping[str, tuple[type, ...]] = {
    "part": (int,),
    "parts": (int,),
    "right": (int,),
    "of": (int,),
    "box": (int,),
    "due": (int, float),
    "done": (bool,),
    "path": (str,),
}


_ANY = (0, 10**12)
_RANGES = {"box": (1, 5)}
"""What numbers can be; times are seconds since 1970."""


def as_json(progress: Progress) -> dict[str, Any]:
    """The progress as it is written."""
    tables = {
        name: {
            key: {at: getattr(one, at) for at in kind.__record_fields__} for key, one in sorted(table.items())
        }
        for name, kind in _KINDS.items()
        for table in (getattr(progress, name),)
    }
    return {"version": VERSION, "last": progress.last, **tables}


def from_json(data: object) -> Progress:
    """The progress that was written; tables and fields that are not there have their defaults."""
    if not isinstance(data, dict) or not isinstance(data.get("version"), int):
        raise UnreadableError("it has no version")
    if data["version"] > VERSION:
        raise NewerError(f"it has version {data['version']}, this gradledger knows {VERSION}")
    last = data.get("last")
    if last is not None and not isinstance(last, str):
        raise UnreadableError("last is no lesson")
    return Progress(last, **{name: _table(data.get(name, {}), kind, name) for name, kind in _KINDS.items()})


def _table(data: object, kind: Any, name: str) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise UnreadableError(f"{name} is no table")
    return {key: _one(value, kind, f"{name}.{key}") for key, value in data.items()}


def _one(data: object, kind: Any, name: str) -> Any:
    if not isinstance(data, dict):
        raise UnreadableError(f"{name} is no table")
    known = {key: value for key, value in data.items() if key in kind.__record_fields__}
    for key, value in known.items():
        if not isinstance(value, _TYPES[key]) or (isinstance(value, bool) and bool not in _TYPES[key]):
            raise UnreadableError(f"{name}.{key} is {_shown(value)}")
        least, most = _RANGES.get(key, _ANY)
        if isinstance(value, (int, float)) and not least <= value <= most:  # which no NaN is
            raise UnreadableError(f"{name}.{key} is {_shown(value)}")
    try:
        return kind(**known)
    except TypeError as error:
        raise UnreadableError(f"{name}: {error}") from error


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
