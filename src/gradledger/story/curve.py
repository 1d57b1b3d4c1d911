"""Numbers over a whole run in bounded memory: neighbours become one, with their mean and extremes."""

from __future__ import annotations

import math

from gradledger.ledger.record import dataclass, field
from gradledger.ledger.site import Site
from gradledger.story.told import Curve

MOST = 1_200
"""Points that one curve keeps at most."""


@dataclass(slots=True)
class Series:
    """Values over time; each kept point is a stretch with its mean, least and greatest value."""

    site: Site | None = None
    width: int = 1
    points: list[list[float]] = field(default_factory=list)
    """[time, mean, least, greatest, how many]."""
    broken: int = 0
    """Values that are no number: NaN or infinite."""

    def add(self, at: int, value: float, least: float | None = None) -> None:
        """Append a value, with the least one on the way to it if that was lower."""
        if not math.isfinite(value):
            self.broken += 1
            return
        low = value if least is None else min(value, least)
        last = self.points[-1] if self.points else None
        if last is not None and last[4] < self.width:
            count = last[4]
            last[1] += (value - last[1]) / (count + 1)
            last[2], last[3], last[4] = min(last[2], low), max(last[3], value), count + 1
        else:
            self.points.append([at, value, low, value, 1])
            if len(self.points) > MOST:
                self._halve()

    def curve(self) -> Curve:
        """What was kept."""
        at, means, lows, highs, _ = zip(*self.points, strict=True) if self.points else ((),) * 5
        site = self.site
        return Curve(
            tuple(map(int, at)),
            tuple(means),
            tuple(lows),
            tuple(highs),
            self.width,
            self.broken,
            None if site is None else site.path,
            None if site is None else site.line,
        )

    def _halve(self) -> None:
        pairs = zip(self.points[::2], self.points[1::2], strict=False)
        odd = self.points[-1:] if len(self.points) % 2 else []
        self.points = [_joined(one, other) for one, other in pairs] + odd
        self.width *= 2


def _joined(one: list[float], other: list[float]) -> list[float]:
    count = one[4] + other[4]
    mean = (one[1] * one[4] + other[1] * other[4]) / count
    return [one[0], mean, min(one[2], other[2]), max(one[3], other[3]), count]
