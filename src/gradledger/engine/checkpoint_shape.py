"""Whether what a checkpoint holds can be taken over, asked before anything has changed."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from gradledger.engine.batches import Position
from gradledger.engine.counting import MOST_TERMS, Window
from gradledger.engine.randomness import Randomness

_NUMBER = (int, float)
_MOST = 2**53
"""Nothing was ever counted further."""


def whole(state: Mapping[str, Any], what: str) -> None:
    """A ValueError that names the first part of an accumulator's state that is missing or damaged."""
    for name, kind in _PARTS.items():
        if name not in state or not isinstance(state[name], kind) or _is_absurd(state[name]):
            raise damaged(what, name)
    parts: list[tuple[str, Any]] = [("window", _window), ("position", _position), ("scaling", _scaling)]
    for name, check in [*parts, ("schedules", _schedules)]:
        try:
            sound = check(state[name])
        except Exception as error:  # whatever a damaged value leads to
            raise damaged(what, name) from error
        if not sound:
            raise damaged(what, name)


def contents(content: Mapping[str, Any], what: str, names: Mapping[str, type]) -> None:
    """The same for the parts of a file."""
    for name, kind in names.items():
        if not isinstance(content.get(name), kind):
            raise damaged(what, name)


def damaged(what: str, part: str) -> ValueError:
    """The words for it."""
    return ValueError(
        f"{what} cannot be loaded: its {part} is missing or damaged, so it was not written by "
        "gradledger.Accumulator, or was altered since"
    )


_PARTS: dict[str, Any] = {
    "ranks": int,
    "windows": int,
    "applied": int,
    "unit": _NUMBER,
    "agreed": bool,
    "window": (Mapping, type(None)),
    "position": Mapping,
    "scaling": Mapping,
    "schedules": Mapping,
}


def _is_absurd(value: Any) -> bool:
    return isinstance(value, _NUMBER) and not 0 <= value <= _MOST


def _window(state: Mapping[str, Any] | None) -> bool:
    if state is None:
        return True
    window = Window.from_state(state)
    path, line = state["opened_at"]
    numbers = [number for tally in window.tallies.values() for number in (tally.count, tally.loss)]
    return (
        type(window.micro_batches) is int
        and 0 <= window.micro_batches <= _MOST
        and all(isinstance(number, _NUMBER) for number in numbers)
        and all(0 <= tally.count <= _MOST for tally in window.tallies.values())
        and len(state["gradients"]) <= max(1, len(window.tallies)) <= MOST_TERMS
        and (type(path), type(line)) == (str, int)
        and all(isinstance(name, str) for name in window.tallies)
        and all(
            isinstance(name, str) and isinstance(gradient, Tensor)
            for term in state["gradients"].values()
            for name, gradient in term.items()
        )
    )


def _position(state: Mapping[str, Any]) -> bool:
    place = Position()
    place.load_state_dict(dict(state))
    if type(place.skip) is not int or not 0 <= place.skip <= _MOST:
        return False
    for each in (place.start, place.ahead, place.now):
        if each is not None:
            _tried(each)
    return True


def _tried(saved: Randomness) -> None:
    """Give the states to generators of no importance, which refuse what is none."""
    state = saved.state_dict()
    for one in (state["torch"], *state["loader"]):
        torch.Generator().set_state(one)
    version, numbers, gauss = state["python"]
    random.Random().setstate((version, tuple(numbers), gauss))
    if "numpy" in state:
        import sys

        numpy = sys.modules.get("numpy")
        if numpy is not None:
            numpy.random.RandomState().set_state(tuple(state["numpy"]))


def _scaling(state: Mapping[str, Any]) -> bool:
    scale = state["now"]
    known = isinstance(scale, _NUMBER) and 0 < scale < math.inf
    return known and isinstance(state["scaler"], (Mapping, type(None)))


def _schedules(state: Mapping[str, Any]) -> bool:
    lists = state["per_update"], state["per_epoch"]
    return type(state["in_epoch"]) is int and all(
        isinstance(each, list) and all(isinstance(one, Mapping) for one in each) for each in lists
    )
