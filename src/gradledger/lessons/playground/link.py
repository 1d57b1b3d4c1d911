"""A set-up as the short text at the end of a link, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import parse_qsl, urlencode

from gradledger.lessons.playground.blocks import BY_LETTER, BY_NAME, LANE_NAMES
from gradledger.lessons.playground.setup import CHOICES, RANGES, SWITCHES, Setup, SetupError, read

LONGEST = 400
_PLAIN = Setup(((),) * len(LANE_NAMES))


def query(setup: Setup) -> str:
    """One letter for each block, a dash between lanes; settings only where they are not the usual ones."""
    loop = "-".join("".join(BY_NAME[name].letter for name in lane) for lane in setup.lanes)
    settings = {key: getattr(setup, key) for key in (*RANGES, *CHOICES, *SWITCHES)}
    other = {key: value for key, value in settings.items() if value != getattr(_PLAIN, key)}
    return urlencode({"loop": loop, **{key: _word(value) for key, value in other.items()}})


def from_query(text: str) -> Setup:
    """The set-up behind a link; SetupError if there is none."""
    if len(text) > LONGEST:
        raise SetupError("this link is too long to be one of the playground's")
    return from_pairs(parse_qsl(text.lstrip("?"), keep_blank_values=True))


def from_pairs(pairs: Iterable[tuple[str, str]]) -> Setup:
    """The same from names and values."""
    found: dict[str, str] = {}
    for key, value in pairs:
        if key in found:
            raise SetupError(f"the link says {key!r} twice")
        found[key] = value
    data: dict[str, object] = {"lanes": _lanes(found.pop("loop", ""))}
    data.update({key: _value(key, value) for key, value in found.items()})
    return read(data)


def _lanes(loop: str) -> Mapping[str, list[str]]:
    parts = loop.split("-")
    if len(parts) != len(LANE_NAMES):
        raise SetupError(
            f"a link's loop has {len(LANE_NAMES)} lanes with a dash between them; this one has {len(parts)}"
        )
    unknown = sorted({letter for part in parts for letter in part if letter not in BY_LETTER})
    if unknown:
        raise SetupError(f"there is no block with the letter {unknown[0]!r}")
    return {
        name: [BY_LETTER[letter].name for letter in part]
        for name, part in zip(LANE_NAMES, parts, strict=True)
    }


def _value(key: str, value: str) -> object:
    if key in SWITCHES:
        return {"yes": True, "no": False}.get(value, value)
    if key in RANGES and value.isascii() and value.isdigit() and len(value) < 4:
        return int(value)
    return value


def _word(value: object) -> object:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value
