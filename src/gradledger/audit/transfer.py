"""An answer as text, to hand it from one process to another without losing anything."""

from __future__ import annotations

import json
import types
from enum import Enum
from functools import cache
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

from gradledger.audit.answer import Answer
from gradledger.ledger.record import field_names

SCHEMA = 1


def answer_to_json(answer: Answer) -> str:
    """Write all of it in one line."""
    return json.dumps({"transfer": SCHEMA, "answer": _plain(answer)})


def answer_from_json(text: str) -> Answer:
    """Read what `answer_to_json` wrote; anything else is a ValueError that names the place."""
    try:
        whole = json.loads(text)
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"an answer must be JSON: {error}") from error
    if not isinstance(whole, dict) or set(whole) != {"transfer", "answer"}:
        raise ValueError("an answer must be an object with `transfer` and `answer`")
    if type(whole["transfer"]) is not int or whole["transfer"] != SCHEMA:
        raise ValueError(f"an answer of transfer schema {whole['transfer']!r}; this version reads {SCHEMA}")
    return cast(Answer, _value(Answer, whole["answer"], "answer"))


def _plain(value: object) -> object:
    if hasattr(value, "__record_fields__"):
        return {name: _plain(getattr(value, name)) for name in field_names(value)}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def _value(kind: Any, given: object, where: str) -> object:
    """Make `given` a value of the annotated type, without ever converting one type into another."""
    if hasattr(kind, "__record_fields__"):
        return _record(kind, given, where)
    if isinstance(kind, type) and issubclass(kind, Enum):
        if isinstance(given, str) and given in [member.value for member in kind]:
            return kind(given)
    elif get_origin(kind) is tuple:
        if isinstance(given, list):
            return _items(get_args(kind), given, where)
    elif get_origin(kind) in (Union, types.UnionType):
        options = [option for option in get_args(kind) if option is not types.NoneType]
        return None if given is None else _value(options[0], given, where)
    elif kind in (int, str, bool) and type(given) is kind:
        return given
    raise ValueError(f"{where}: {given!r:.60} is no {getattr(kind, '__name__', kind)}")


def _items(kinds: tuple[Any, ...], given: list[object], where: str) -> tuple[object, ...]:
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        kinds = (kinds[0],) * len(given)
    if len(kinds) != len(given):
        raise ValueError(f"{where}: {len(given)} items where {len(kinds)} belong")
    pairs = enumerate(zip(kinds, given, strict=True))
    return tuple(_value(kind, item, f"{where}[{number}]") for number, (kind, item) in pairs)


def _record(kind: type, given: object, where: str) -> object:
    hints = _hints(kind)
    if not isinstance(given, dict) or set(given) != set(hints):
        raise ValueError(f"{where}: an object with exactly {', '.join(hints)} belongs here")
    return kind(**{name: _value(hint, given[name], f"{where}.{name}") for name, hint in hints.items()})


@cache
def _hints(kind: type) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {name: hints[name] for name in field_names(kind)}
