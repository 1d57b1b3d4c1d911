"""The stages of a step, in the order in which this program does them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradledger.ledger import details as d
from gradledger.ledger import events as ev
from gradledger.ledger.details import TensorSeen
from gradledger.ledger.record import replace
from gradledger.story.told import Stage
from gradledger.story.window import Item

TITLES = {
    "data": "data",
    "forward": "forward",
    "loss": "loss",
    "scale": "scale the loss",
    "zero": "zero the gradients",
    "backward": "backward",
    "unscale": "unscale",
    "measure": "measure the norm",
    "clip": "clip",
    "change": "change the gradients by hand",
    "step": "optimizer step",
    "skip": "optimizer step, skipped by the scaler",
    "update": "update the scale",
    "schedule": "learning-rate schedule",
}


_MOVING = "zero", "backward", "unscale", "measure", "clip", "step"
"""Stages that take or give a gradient or a parameter."""


class _Stages:
    """Makes stages of events; what was looked at right before an event belongs to its stage."""

    def __init__(self, rates: dict[int, float], scales: dict[int, float]) -> None:
        self.told: list[Stage] = []
        self._rates, self._scales = dict(rates), dict(scales)
        self._passes = 0
        self._loaded = False
        """Whether a loader gives the batches."""
        self._loss: d.LossSeen | None = None
        self._norm: d.NormSeen | None = None
        self._was: float | None = None
        """The rate or scale before its latest change."""
        self._memory: int | None = None
        self._parameter: d.ParameterSeen | None = None
        self._sources: dict[int, int] = {}
        """Loaders whose batch no pass has used yet, and the place of the stage."""
        self._clears: list[int] = []
        """The place of the stage of each clearing since the last pass."""

    def add(self, item: Item) -> None:
        """One more event."""
        event = item.event
        match event:
            case d.BatchTaken():
                self._loaded = True
                self._forget_batch(event.source)
                self._sources[event.source] = len(self.told)
                self._stage(item, "data", gives=event.tensors)
            case ev.EpochEnded():
                self._forget_batch(event.source)
            case d.ForwardSeen():
                if not self._loaded and not self._has("data"):
                    self._stage(item, "data", gives=event.inputs, facts={"source": "the model's own input"})
                facts: dict[str, float | str] = {"model": event.module}
                self._stage(item, "forward", takes=event.inputs, gives=event.outputs, facts=facts)
            case d.CriterionCalled():
                facts = {"function": event.function, "loss": event.value}
                self._stage(item, "loss", takes=event.inputs, facts=facts)
            case d.LossSeen():
                if not self._has("loss"):
                    self._by_hand(item, event)
                self._loss = event
            case d.NormSeen():
                self._norm = event
            case d.RateSeen():
                self._was, self._rates[event.optimizer] = self._rates.get(event.optimizer), event.value
            case d.ScaleSeen():
                self._was, self._scales[event.scaler] = self._scales.get(event.scaler), event.value
            case d.MemorySeen():
                self._memory = event.gradients
            case d.ParameterSeen():
                self._follow(event)
            case d.Detail():
                pass
            case _:
                self._booked(item)

    def _booked(self, item: Item) -> None:
        event = item.event
        facts: dict[str, float | str] = {}
        match event:
            case ev.LossScaled():
                self._stage(item, "scale", facts=_only(scale=self._scales.get(event.scaler)))
            case ev.GradientCleared():
                self._zero(item, event)
                self._clears.append(len(self.told) - 1)
            case ev.BackwardRan():
                if self._loss is not None:
                    facts["starts from"] = self._loss.value
                self._stage(item, "backward", facts={**facts, **_only(bytes=self._memory)})
                self._passes, self._loss = self._passes + 1, None
                self._sources.clear()
                self._clears.clear()
            case ev.GradientsUnscaled():
                self._stage(item, "unscale", facts=_only(scale=self._scales.get(event.scaler)))
            case ev.GradientsClipped():
                if self._norm is not None:
                    facts = _only(norm=self._norm.before_clip, becomes=self._norm.value)
                self._stage(item, "measure" if event.only_measures else "clip", facts=facts)
            case ev.GradientChanged() | ev.GradientAssigned():
                self._stage(item, "change")
            case ev.OptimizerStepped():
                rate = None if event.optimizer is None else self._rates.get(event.optimizer)
                norm = None if self._norm is None else self._norm.value
                self._stage(item, "step", facts=_only(norm=norm, rate=rate))
            case ev.StepSkipped():
                self._stage(item, "skip")
            case ev.ScalerUpdated():
                self._stage(item, "update", facts=_only(was=self._was, scale=self._scales.get(event.scaler)))
            case ev.SchedulerStepped():
                rate = self._rates.get(event.optimizer)
                self._stage(item, "schedule", facts=_only(was=self._was, rate=rate))
            case _:
                return
        self._norm = self._was = self._memory = self._parameter = None

    def _follow(self, seen: d.ParameterSeen) -> None:
        """What an event did to a parameter is told before it, but what a step came to only after it."""
        last = self.told[-1] if self.told else None
        if not seen.takes and last is not None and last.kind == "step" and last.takes and not last.gives:
            self.told[-1] = replace(last, gives=seen.gives)
        else:
            self._parameter = seen

    def _by_hand(self, item: Item, event: d.LossSeen) -> None:
        """A loss that is known only at its pass stands where it was written, before what came after it."""
        self._stage(item, "loss", facts={"loss": event.value})
        made = self.told.pop()
        if event.written is not None:
            made = replace(made, path=event.written.path, line=event.written.line)
        at = len(self.told)
        if 0 < event.clears_since <= len(self._clears):
            at = self._clears[-event.clears_since]
            made = replace(made, before=self.told[at].before, after=self.told[at].before)
        self.told.insert(at, made)
        self._sources = {key: index + (index >= at) for key, index in self._sources.items()}

    def _zero(self, item: Item, event: ev.GradientCleared) -> None:
        last = self.told[-1] if self.told else None
        if last is not None and last.kind == "zero" and event.site and last.line == event.site.line:
            self.told[-1] = replace(last, after=item.after)
        else:
            self._stage(item, "zero", facts={"to": event.to, **_only(bytes=self._memory)})

    def _stage(
        self,
        item: Item,
        kind: str,
        *,
        takes: tuple[TensorSeen, ...] = (),
        gives: tuple[TensorSeen, ...] = (),
        facts: dict[str, float | str] | None = None,
    ) -> None:
        site = item.event.site
        parameter = self._parameter
        if parameter is not None and kind in _MOVING:
            # A pass adds to what is there, and that is no input of its own.
            takes, gives = () if kind == "backward" else parameter.takes, parameter.gives
        # What follows the last pass of a window belongs to that pass, not to one that never comes.
        ahead = kind in ("data", "forward", "loss", "scale", "backward", "zero")
        self.told.append(
            Stage(
                kind,
                TITLES[kind],
                None if site is None else site.path,
                None if site is None else site.line,
                item.before,
                item.after,
                self._passes + 1 if ahead or not self._passes else self._passes,
                takes,
                gives,
                facts or {},
            )
        )

    def _has(self, kind: str) -> bool:
        """Whether there is such a stage since the last pass."""
        for stage in reversed(self.told):
            if stage.kind == "backward":
                return False
            if stage.kind == kind:
                return True
        return False

    def _forget_batch(self, source: int) -> None:
        """A batch that no pass used, as an evaluation's, is no part of the step."""
        at = self._sources.pop(source, None)
        if at is not None and self.told[at].kind == "data":
            del self.told[at]
            self._sources = {key: index - (index > at) for key, index in self._sources.items()}


def _only(**facts: Any) -> dict[str, float | str]:
    return {name: value for name, value in facts.items() if value is not None}


def stages(window: Iterable[Item], rates: dict[int, float], scales: dict[int, float]) -> tuple[Stage, ...]:
    """The stages of the step, given the learning rates and scales that it began with."""
    told = _Stages(rates, scales)
    for item in window:
        told.add(item)
    return tuple(told.told)
