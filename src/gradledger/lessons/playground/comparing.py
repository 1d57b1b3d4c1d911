"""Two runs over the same micro-batches side by side: losses, norms, and how far apart the weights are."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import torch

from gradledger.lessons.playground.running import Ran, models, weights

Points = list[tuple[int, float]]

MINE, RIGHT = "this loop", "the right loop"


def curves(mine: Ran, right: Ran) -> dict[str, dict[str, object]]:
    """Each curve by its name: losses after each update, norms at each step, distance of the weights."""
    found: dict[str, Points] = {}
    for name, ran in ((MINE, mine), (RIGHT, right)):
        found[f"loss {name}"] = _losses(ran)
        for optimizer in dict.fromkeys(optimizer for _, optimizer, _ in ran.norms):
            owner = optimizer.removeprefix("optimizer").strip("_").upper()
            label = f"{owner}, {name}" if owner else name
            found[f"norm {label}"] = [(at, norm) for at, who, norm in ran.norms if who == optimizer]
    found["distance"] = _distances(mine, right)
    return {name: _series(points) for name, points in found.items()}


def distance(mine: Ran, right: Ran) -> float | None:
    """How far the weights have ended from the right ones, relative to their length, if it can be told."""
    if mine.error is not None or not models(mine.names):
        return None
    return _finite(_apart(weights(mine.names), weights(right.names)))


def final_loss(ran: Ran) -> float | None:
    """The loss on all data with the weights at the end."""
    return None if ran.error is not None else _finite(_loss(ran.names))


def _distances(mine: Ran, right: Ran) -> Points:
    ours, theirs = dict(mine.weights), dict(right.weights)
    found: Points = []
    mine_now = right_now = None
    for at in sorted({*ours, *theirs}):
        mine_now, right_now = ours.get(at, mine_now), theirs.get(at, right_now)
        if mine_now is not None and right_now is not None and at in ours:
            found.append((at, _apart(mine_now, right_now)))
    return found


def _apart(mine: torch.Tensor, right: torch.Tensor) -> float:
    return float((mine - right).norm() / right.norm())


def _losses(ran: Ran) -> Points:
    """The loss on all data after each micro-batch that had an update."""
    kept = [parameter for model in models(ran.names) for parameter in model.parameters()]
    end = [parameter.detach().clone() for parameter in kept]
    found: Points = []
    for at, row in dict(ran.weights).items():
        torch.nn.utils.vector_to_parameters(row.to(torch.float32), kept)
        found.append((at, _loss(ran.names)))
    with torch.no_grad():
        for parameter, value in zip(kept, end, strict=True):
            parameter.copy_(value)
    return found


def _loss(names: dict[str, Any]) -> float:
    with torch.no_grad():
        if "model" in names:
            return float(names["loss_fn"](names["model"](names["inputs"]), names["targets"]))
        judge, real, fake = names["discriminator"], names["real"], names["generator"](names["noise"])
        ones, zeros = torch.ones(len(real), 1), torch.zeros(len(real), 1)
        return float(names["loss_fn"](judge(real), ones) + names["loss_fn"](judge(fake), zeros))


def _series(points: Iterable[tuple[int, float]]) -> dict[str, object]:
    """The form in which the page draws a curve."""
    points = list(points)
    sound = [[at, float(f"{value:.6g}")] for at, value in points if math.isfinite(value)]
    return {"points": sound, "width": 1, "broken": len(points) - len(sound)}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
