"""The probes at gradient clipping."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from types import GeneratorType
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils import clip_grad

from gradledger.ledger import events as ev
from gradledger.ledger.site import Site
from gradledger.runtime.cohort import Cohort, Gone
from gradledger.runtime.observer import Observer
from gradledger.runtime.patch import Patches
from gradledger.runtime.scaling import LEAST_SCALED_BOUND, Scaling
from gradledger.runtime.shield import shielded

_FUNCTIONS = ("clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_")


class Clipping:
    """Sees torch's clip functions, under both names they go by."""

    def __init__(self, observer: Observer, scaling: Scaling) -> None:
        self.observer = observer
        self.scaling = scaling
        self.before: Callable[[Sequence[Cohort]], None] | None = None
        """Called with what is about to be clipped."""

    def install(self, patches: Patches) -> None:
        """Put the probes in place."""
        for name in _FUNCTIONS:
            original = getattr(clip_grad, name, None)
            if original is None:
                # Public only there: the functions of the module itself call it under another name.
                if hasattr(torch.nn.utils, name):
                    patches.wrap(torch.nn.utils, name, self._make)
                continue
            wrapper = patches.wrap(clip_grad, name, self._make)
            if getattr(torch.nn.utils, name, None) is original:
                patches.place(torch.nn.utils, name, wrapper)

    def _make(self, original: Callable[..., Any]) -> Callable[..., Any]:
        here = self.observer.here

        def clip(parameters: Any, *args: Any, **kwargs: Any) -> Any:
            params = [parameters] if isinstance(parameters, Tensor) else list(parameters)
            bound = args[0] if args else kwargs.get("max_norm", kwargs.get("clip_value"))
            cruise = here.cruise
            if cruise.on and self._as_due(params, bound) and cruise.begins(ev.GradientsClipped):
                result = original(_again(parameters, params), *args, **kwargs)
                cruise.altered()
                return result
            site = self.observer.sites.find(1)
            cohorts = self._before(params, site)
            result = original(_again(parameters, params), *args, **kwargs)
            if cohorts is not None:
                self._after(cohorts, site, bound)
            return result

        return clip

    def _as_due(self, params: list[Any], bound: Any) -> bool:
        """Whether the clipping that is due in level flight is one of these parameters by such a bound."""
        stage = self.observer.here.cruise.due
        event = stage.event
        if not isinstance(event, ev.GradientsClipped) or stage.params != set(map(id, params)):
            return False
        if type(bound) is float and 0.0 <= bound < LEAST_SCALED_BOUND:
            return not (event.only_measures or event.scaled_bound)
        return event.only_measures is _infinite(bound) and event.scaled_bound is self.scaling.fits(bound)

    @shielded
    def _before(self, params: list[Any], site: Site) -> list[Cohort] | None:
        observer = self.observer
        strangers = [
            p for p in params if isinstance(p, Tensor) and p.is_leaf and observer.cohort_of(p) is None
        ]
        if strangers:
            observer.open(strangers, site)
        cohorts = observer.cohorts_of(params)
        observer.settle(cohorts, site)
        if self.before is not None:
            self.before(cohorts)
        return cohorts

    @shielded
    def _after(self, cohorts: list[Cohort], site: Site, bound: Any) -> None:
        observer = self.observer
        only_measures = _infinite(bound)
        scaled = self.scaling.fits(bound)
        for cohort in cohorts:
            try:
                cohort.snapshot(cohort.look())
            except Gone:
                observer.forget(cohort)
        accounts = tuple([c.account for c in cohorts])
        event = observer.same(
            ("clip", site, accounts, only_measures, scaled),
            lambda: ev.GradientsClipped(site, accounts, only_measures, scaled),
        )
        observer.post(event)


def _again(parameters: Any, params: list[Any]) -> Any:
    """What torch was given, though we have read it: it warns of generators that are empty."""
    if isinstance(parameters, GeneratorType) and not params:
        return (p for p in params)
    return params if isinstance(parameters, Iterator) else parameters


def _infinite(bound: Any) -> bool:
    try:
        return math.isinf(float(bound))
    except (TypeError, ValueError):
        return False
