"""The part of SARIF 2.1.0 that we write: which properties an object may have, and of which kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator

Kind = Callable[[object], bool]


def _text(value: object) -> bool:
    return isinstance(value, str)


def _from_one(value: object) -> bool:
    return type(value) is int and value >= 1


def _from_zero(value: object) -> bool:
    return type(value) is int and value >= 0


def _one_of(*words: str) -> Kind:
    return lambda value: value in words


LEVEL = _one_of("none", "note", "warning", "error")

SHAPES: dict[str, dict[str, object]] = {
    "log": {"$schema": _text, "version!": _one_of("2.1.0"), "runs!": ["run"]},
    "run": {
        "tool!": "tool",
        "invocations": ["invocation"],
        "originalUriBaseIds": {"artifactLocation"},
        "columnKind": _one_of("utf16CodeUnits", "unicodeCodePoints"),
        "results": ["result"],
        "properties": dict,
    },
    "tool": {"driver!": "toolComponent"},
    "toolComponent": {"name!": _text, "semanticVersion": _text, "rules": ["reportingDescriptor"]},
    "reportingDescriptor": {
        "id!": _text,
        "name": _text,
        "shortDescription": "multiformat",
        "fullDescription": "multiformat",
        "help": "multiformat",
        "defaultConfiguration": "configuration",
        "properties": dict,
    },
    "configuration": {"level": LEVEL},
    "multiformat": {"text!": _text, "markdown": _text},
    "message": {"text!": _text},
    "invocation": {
        "executionSuccessful!": lambda value: isinstance(value, bool),
        "toolExecutionNotifications": ["notification"],
    },
    "notification": {"level": LEVEL, "message!": "message"},
    "result": {
        "ruleId": _text,
        "ruleIndex": _from_zero,
        "level": LEVEL,
        "rank": lambda value: 0 <= value <= 100,
        "message!": "message",
        "locations": ["location"],
        "relatedLocations": ["location"],
        "fixes": ["fix"],
        "partialFingerprints": {_text},
        "properties": dict,
    },
    "location": {
        "id": _from_zero,
        "physicalLocation": "physicalLocation",
        "logicalLocations": ["logicalLocation"],
        "message": "message",
    },
    "logicalLocation": {"name": _text, "kind": _text},
    "physicalLocation": {"artifactLocation!": "artifactLocation", "region": "region"},
    "artifactLocation": {"uri": _text, "uriBaseId": _text, "description": "message"},
    "region": {
        "startLine": _from_one,
        "startColumn": _from_one,
        "endLine": _from_one,
        "endColumn": _from_one,
    },
    "fix": {"description": "message", "artifactChanges!": ["artifactChange"]},
    "artifactChange": {"artifactLocation!": "artifactLocation", "replacements!": ["replacement"]},
    "replacement": {"deletedRegion!": "region", "insertedContent": "message"},
}
"""For each object its properties, those with `!` required: a check, an object, a list or a map of them."""


def complaints(log: object) -> list[str]:
    """What is wrong with a log."""
    return list(_object(log, "log", "log"))


def _object(value: object, shape: str, where: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{where} is no object"
        return
    known = {name.rstrip("!"): kind for name, kind in SHAPES[shape].items()}
    for name in SHAPES[shape]:
        if name.endswith("!") and name[:-1] not in value:
            yield f"{where} lacks {name[:-1]}"
    for name, inner in value.items():
        if name not in known:
            yield f"{where} has {name}"
        else:
            yield from _value(inner, known[name], f"{where}.{name}")


def _value(value: object, kind: object, where: str) -> Iterator[str]:
    if isinstance(kind, str):
        yield from _object(value, kind, where)
    elif isinstance(kind, list) and isinstance(value, list):
        for number, item in enumerate(value):
            yield from _value(item, kind[0], f"{where}[{number}]")
    elif isinstance(kind, set) and isinstance(value, dict):
        for name, item in value.items():
            yield from _value(item, next(iter(kind)), f"{where}.{name}")
    elif kind is dict and isinstance(value, dict):
        return
    elif not callable(kind) or kind is dict or not kind(value):
        yield f"{where} is {value!r:.40}"
