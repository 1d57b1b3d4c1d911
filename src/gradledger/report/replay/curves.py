"""Curves of bounded length: when there are too many points, neighbours become one with its extremes."""

from __future__ import annotations

import math

from gradledger.ledger import details as seen
from gradledger.ledger import events as ev
from gradledger.ledger.record import dataclass, field

MOST = 1_200
"""Points that one curve keeps at most."""

_READ = {
    *(seen.LossSeen, seen.AccuracySeen, seen.NormSeen, seen.RateSeen, seen.ScaleSeen, seen.MemorySeen),
    *(ev.NormMeasured, ev.StepSkipped, ev.EpochEnded),
}


@dataclass(slots=True)
class Series:
    """Values over time; each kept point is a stretch with its mean, least and greatest value."""

    width: int = 1
    points: list[list[float]] = field(default_factory=list)
    """[time, mean, least, greatest, how many]."""
    broken: int = 0
    """Values that are no number: NaN or infinite."""

    def add(self, at: int, value: float) -> None:
        """Append a value."""
        if not math.isfinite(value):
            self.broken += 1
            return
        last = self.points[-1] if self.points else None
        if last is not None and last[4] < self.width:
            count = last[4]
            last[1] += (value - last[1]) / (count + 1)
            last[2], last[3], last[4] = min(last[2], value), max(last[3], value), count + 1
        else:
            self.points.append([at, value, value, value, 1])
            if len(self.points) > MOST:
                self._halve()

    def data(self) -> dict[str, object]:
        """As plain values, shortened to what an eye can see."""
        short = [
            [int(at), *(float(f"{v:.5g}") for v in ((mean,) if low == high else (mean, low, high)))]
            for at, mean, low, high, _ in self.points
        ]
        return {"points": short, "width": self.width, "broken": self.broken}

    def _halve(self) -> None:
        pairs = zip(self.points[::2], self.points[1::2], strict=False)
        odd = self.points[-1:] if len(self.points) % 2 else []
        self.points = [_joined(one, other) for one, other in pairs] + odd
        self.width *= 2


class Curves:
    """Every curve a recording holds, by name."""

    def __init__(self) -> None:
        self._series: dict[str, Series] = {}
        self.skips: list[int] = []
        self.epochs: list[int] = []

    def take(self, event: ev.Event, now: int) -> None:
        """Read one event at this micro-batch."""
        if type(event) not in _READ:
            return
        match event:
            case seen.LossSeen():
                self._add("loss", now, event.value)
            case seen.AccuracySeen():
                self._add("accuracy", now, event.value)
            case seen.NormSeen():
                if event.before_clip is not None:
                    self._add("norm before clip", now, event.before_clip)
                    self._add("norm after clip", now, event.value)
                else:
                    self._add("norm", now, event.value)
            case ev.NormMeasured():
                self._add("norm inside", now, event.inside)
                self._add("norm alone", now, event.alone)
            case seen.RateSeen():
                self._add(f"rate {event.optimizer}", now, event.value)
            case seen.ScaleSeen():
                self._add(f"scale {event.scaler}", now, event.value)
            case seen.MemorySeen():
                self._add("memory", now, event.gradients)
            case ev.StepSkipped() if len(self.skips) < MOST:
                self.skips.append(now)
            case ev.EpochEnded() if len(self.epochs) < MOST and now not in self.epochs[-1:]:
                self.epochs.append(now)
            case _:
                pass

    def data(self) -> dict[str, object]:
        """As plain values."""
        series = {name: series.data() for name, series in self._series.items()}
        return {"series": series, "skips": self.skips, "epochs": self.epochs}

    def _add(self, name: str, now: int, value: float) -> None:
        if name not in self._series:
            if len(self._series) >= 24:
                return
            self._series[name] = Series()
        self._series[name].add(now, value)


def _joined(one: list[float], other: list[float]) -> list[float]:
    count = one[4] + other[4]
    mean = (one[1] * one[4] + other[1] * other[4]) / count
    return [one[0], mean, min(one[2], other[2]), max(one[3], other[3]), count]
