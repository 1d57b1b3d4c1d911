"""The curves of a run over its micro-batches.

Rates, scales and memory are recorded when they change; here they are carried forward, so that every pass or
step has its value and a point that stands for many is a mean over time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradledger.ledger import details as d
from gradledger.ledger import events as ev
from gradledger.ledger.site import Site
from gradledger.story.curve import MOST, Series
from gradledger.story.told import Curve

MOST_CURVES = 24
MOST_LINES = 4
"""Lines whose losses and answers are told apart."""


class Curves:
    """Hears every event of a run, and is quick with those that no curve is made of."""

    def __init__(self) -> None:
        self.skips: list[int] = []
        self.epochs: list[int] = []
        self._series: dict[str, Series] = {}
        self._passes = 0
        self._places: dict[str, dict[Site | None, str]] = {"loss": {}, "accuracy": {}}
        """The lines that gave losses and answers, and what their own curves are called."""
        self._norm: d.NormSeen | None = None
        self._rates: dict[int, float] = {}
        self._scales: dict[int, float] = {}
        self._memory: int | None = None
        self._least: int | None = None
        """The fewest bytes since the last pass."""

    def hear(self, event: ev.Event) -> None:
        """One more event."""
        take = _TAKES.get(type(event))
        if take is not None:
            take(self, event)

    def told(self) -> dict[str, Curve]:
        """Every curve that has a value, by name; losses of several lines also one by one."""
        single = {name for places in self._places.values() if len(places) == 1 for name in places.values()}
        return {name: series.curve() for name, series in self._series.items() if name not in single}

    def _add(
        self, name: str, at: int, value: float, least: float | None = None, site: Site | None = None
    ) -> None:
        series = self._series.get(name)
        if series is None:
            if len(self._series) >= MOST_CURVES:
                return
            series = self._series[name] = Series(site)
        series.add(at, value, least)

    def _lost(self, event: d.LossSeen) -> None:
        self._before_pass("loss", event, event.value if event.criterion is None else event.criterion)

    def _answered(self, event: d.AccuracySeen) -> None:
        self._before_pass("accuracy", event, event.value)

    def _before_pass(self, what: str, event: d.Detail, value: float) -> None:
        """A number of the pass that is yet to be booked, for all lines together and for its own."""
        at = self._passes + 1
        self._add(what, at, value)
        places = self._places[what]
        name = places.get(event.site)
        if name is None and len(places) < MOST_LINES:
            name = places[event.site] = f"{what} {len(places) + 1}"
        if name is not None:
            self._add(name, at, value, site=event.site)

    def _normed(self, event: d.NormSeen) -> None:
        if event.before_clip is None:
            self._norm = event  # of a step, which follows
        else:
            self._add("norm before clip", self._passes, event.before_clip)
            self._add("norm after clip", self._passes, event.value)

    def _rated(self, event: d.RateSeen) -> None:
        self._rates[event.optimizer] = event.value

    def _scaled(self, event: d.ScaleSeen) -> None:
        self._scales[event.scaler] = event.value

    def _held(self, event: d.MemorySeen) -> None:
        self._memory = event.gradients
        self._least = event.gradients if self._least is None else min(self._least, event.gradients)

    def _passed(self, event: ev.BackwardRan) -> None:
        self._passes += 1
        for scaler, scale in self._scales.items():
            self._add(f"scale {scaler}", self._passes, scale)
        if self._memory is not None:
            self._add("memory", self._passes, self._memory, self._least)
            self._least = self._memory

    def _stepped(self, event: ev.OptimizerStepped) -> None:
        norm, self._norm = self._norm, None
        if norm is not None:
            self._add(f"norm {event.optimizer or 0}", self._passes, norm.value)
        if event.optimizer in self._rates:
            self._add(f"rate {event.optimizer}", self._passes, self._rates[event.optimizer])

    def _skipped(self, event: ev.StepSkipped) -> None:
        if len(self.skips) < MOST:
            self.skips.append(self._passes)

    def _ended(self, event: ev.EpochEnded | d.LoopTurned) -> None:
        if len(self.epochs) < MOST and self._passes not in self.epochs[-1:] and self._passes:
            self.epochs.append(self._passes)

    def _measured(self, event: ev.NormMeasured) -> None:
        self._add("norm inside", self._passes, event.inside)
        self._add("norm alone", self._passes, event.alone)


_TAKES: dict[type[ev.Event], Callable[[Curves, Any], None]] = {
    d.LossSeen: Curves._lost,
    d.AccuracySeen: Curves._answered,
    d.NormSeen: Curves._normed,
    d.RateSeen: Curves._rated,
    d.ScaleSeen: Curves._scaled,
    d.MemorySeen: Curves._held,
    d.LoopTurned: Curves._ended,
    ev.BackwardRan: Curves._passed,
    ev.OptimizerStepped: Curves._stepped,
    ev.StepSkipped: Curves._skipped,
    ev.EpochEnded: Curves._ended,
    ev.NormMeasured: Curves._measured,
}
