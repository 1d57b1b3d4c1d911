"""Damage to bytes, to JSON values and to recordings."""

from __future__ import annotations

import json
import random
from typing import Any

TEXTS = [
    "",
    "\x00",
    "\x1b[31mred\x1b]8;;http://x\x07link",
    "\x9b31m",
    "..\\..",
    "../../../../etc/passwd",
    "/dev/zero",
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "\ud800",
    "\u202egnp.exe",
    "a" * 3000,
    "%0A::error::x",
    "line\nline\r",
    "none",
    "zero",
    "hand",
]
NUMBERS = [0, -1, 1, 2, 3, 99, 10**6, 2**31, 2**62, 2**64, 10**30]
FLOATS = [0.0, -1.0, float("nan"), float("inf"), 1e308, 5e-324]
NESTS: list[Any] = [None, True, [], {}, [1, 2], [[1]], {"site": ["x", 1]}, {"tensors": []}]
LINES = [
    *("[[1,2],5]", "[[1],100]", "99999", "[[],7]", "{}", "null", "[1]", '"x"', "[]", "[1,2,3]", "NaN"),
    *("[" * 20_000, "1" * 5000, "[[1,2],1e5]", "[[1,2],true]", "[[1,2],1000000000000]", "\u2028", "true"),
]


def value(old: Any, chance: random.Random) -> Any:
    """A JSON value with something inside it changed, most often by one of the same type."""
    if isinstance(old, dict) and old and chance.random() < 0.8:
        new = dict(old)
        key = chance.choice(list(new))
        drawn = chance.random()
        if drawn < 0.15:
            del new[key]
        elif drawn < 0.25:
            new[chance.choice(TEXTS)] = new.pop(key)
        else:
            new[key] = value(new[key], chance)
        return new
    if isinstance(old, list) and old and chance.random() < 0.8:
        items = list(old)
        at = chance.randrange(len(items))
        drawn = chance.random()
        if drawn < 0.1:
            del items[at]
        elif drawn < 0.2:
            items.insert(at, items[at])
        else:
            items[at] = value(items[at], chance)
        return items
    if chance.random() < 0.8:
        if isinstance(old, bool):
            return not old
        if isinstance(old, int):
            return chance.choice([old + 1, old - 1, *NUMBERS])
        if isinstance(old, float):
            return chance.choice(FLOATS)
        if isinstance(old, str):
            return chance.choice(TEXTS)
    return chance.choice([*NESTS, *NUMBERS, *FLOATS, *TEXTS])


def data(old: bytes, chance: random.Random) -> bytes:
    """Bytes with some of them changed, gone, or more."""
    raw = bytearray(old)
    for _ in range(chance.randrange(1, 8)):
        at = chance.randrange(len(raw) + 1)
        drawn = chance.random()
        if drawn < 0.4:
            raw[at : at + 1] = bytes([chance.randrange(256)])
        elif drawn < 0.7:
            del raw[at : at + chance.randrange(1, 50)]
        else:
            raw[at:at] = bytes(chance.randrange(256) for _ in range(5))
    return bytes(raw)


def recording(old: bytes, chance: random.Random) -> bytes:
    """A recording with a few of its lines changed, most often so that they are lines still."""
    if chance.random() < 0.15:
        return data(old, chance)
    lines = old.decode().splitlines()
    for _ in range(chance.choice([1, 1, 2, 3])):
        at = chance.randrange(len(lines))
        drawn = chance.random()
        if drawn < 0.65:
            lines[at] = json.dumps(value(json.loads(lines[at]), chance))
            break
        if drawn < 0.75 and len(lines) > 1:
            del lines[at]
        elif drawn < 0.85:
            lines.insert(chance.randrange(len(lines)), lines[at])
        else:
            lines[at] = chance.choice(LINES)
            break
    return ("\n".join(lines) + "\n").encode()
