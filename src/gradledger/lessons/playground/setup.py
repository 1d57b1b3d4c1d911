"""A set-up: which blocks stand where, and the settings around them; read strictly, bounded in size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradledger.ledger.record import dataclass
from gradledger.lessons.playground.blocks import BY_NAME, LANE_NAMES, known

MOST_BLOCKS = 24
MOST_ALIKE = 3
RANGES = {"every": (1, 8), "batches": (2, 24), "epochs": (1, 4)}
CHOICES = {
    "sizes": ("even", "uneven"),
    "guard": ("whole", "plain", "early"),
    "optimizer": ("sgd", "momentum", "adam", "adamw"),
}
SWITCHES = ("set_to_none", "amp", "second")

Lanes = tuple[tuple[str, ...], ...]


class SetupError(ValueError):
    """What is wrong with a set-up, in words for the reader."""


@dataclass(frozen=True, slots=True)
class Setup:
    """A training loop in blocks."""

    lanes: Lanes
    """For each of the lanes the names of its blocks, from top to bottom."""
    every: int = 4
    """Micro-batches in a window."""
    batches: int = 12
    """Micro-batches in an epoch."""
    epochs: int = 2
    sizes: str = "even"
    guard: str = "whole"
    """When a window closes: when full or at the end of the epoch (whole), when full (plain), or too early."""
    optimizer: str = "sgd"
    set_to_none: bool = True
    amp: bool = False
    second: bool = False
    """Two networks with an optimizer each, as in a GAN."""

    @property
    def world(self) -> str:
        """Which blocks may be used."""
        return "pair" if self.second else "amp" if self.amp else "single"

    @property
    def used(self) -> frozenset[str]:
        """The names of the blocks in it."""
        return frozenset(name for lane in self.lanes for name in lane)

    def lane(self, name: str) -> tuple[str, ...]:
        """The blocks of one lane."""
        return self.lanes[LANE_NAMES.index(name)]


def lanes(**blocks: str) -> Lanes:
    """Lanes by name, each with its blocks as words."""
    return tuple(tuple(blocks.get(name, "").split()) for name in LANE_NAMES)


def checked(setup: Setup) -> Setup:
    """The set-up itself if it holds together; SetupError if not."""
    allowed = {block.name for block in known(setup.world)}
    names = [name for lane in setup.lanes for name in lane]
    if len(names) > MOST_BLOCKS:
        raise SetupError(f"a loop holds at most {MOST_BLOCKS} blocks; this one has {len(names)}")
    for name in names:
        if name not in BY_NAME:
            raise SetupError(f"there is no block {_shown(name)}")
        if name not in allowed:
            raise SetupError(f'the block "{name}" {_misfit(setup)}')
        if names.count(name) > MOST_ALIKE:
            raise SetupError(
                f'the block "{name}" stands in it {names.count(name)} times; {MOST_ALIKE} is most'
            )
    if setup.second and (setup.amp or setup.every != 1):
        raise SetupError("with two optimizers the window is 1 and there is no mixed precision")
    return setup


def read(data: object) -> Setup:
    """The set-up that a JSON object describes; anything unknown or out of range is refused."""
    if not isinstance(data, Mapping):
        raise SetupError("a set-up is an object with lanes and settings")
    fields = {"lanes", *RANGES, *CHOICES, *SWITCHES}
    for key in data:
        if key not in fields:
            raise SetupError(f"there is no setting {_shown(key)}; known are {', '.join(sorted(fields))}")
    values: dict[str, Any] = {key: _value(key, data[key]) for key in data if key != "lanes"}
    return checked(Setup(_lanes(data.get("lanes")), **values))


def written(setup: Setup) -> dict[str, object]:
    """The same as a JSON object."""
    settings = {key: getattr(setup, key) for key in (*RANGES, *CHOICES, *SWITCHES)}
    return {"lanes": dict(zip(LANE_NAMES, map(list, setup.lanes), strict=True)), **settings}


def _lanes(data: object) -> Lanes:
    if not isinstance(data, Mapping):
        raise SetupError("the set-up has no lanes")
    for key in data:
        if key not in LANE_NAMES:
            raise SetupError(f"there is no lane {_shown(key)}; known are {', '.join(LANE_NAMES)}")
    found = []
    for name in LANE_NAMES:
        lane = data.get(name, [])
        if not isinstance(lane, list) or not all(isinstance(block, str) for block in lane):
            raise SetupError(f"the lane {name} is not a list of block names")
        found.append(tuple(lane))
    return tuple(found)


def _value(key: str, value: object) -> int | str | bool:
    if key in SWITCHES:
        if isinstance(value, bool):
            return value
        raise SetupError(f"{key} is true or false, not {_shown(value)}")
    if key in RANGES:
        least, most = RANGES[key]
        if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
            return value
        raise SetupError(f"{key} is a whole number from {least} to {most}, not {_shown(value)}")
    if isinstance(value, str) and value in CHOICES[key]:
        return value
    raise SetupError(f"{key} is one of {', '.join(CHOICES[key])}, not {_shown(value)}")


def _misfit(setup: Setup) -> str:
    if setup.second:
        return "does not belong to a loop with two optimizers"
    return "belongs to mixed precision or to two optimizers, which are switched off"


def _shown(value: object) -> str:
    """What the reader sent, shortened."""
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
