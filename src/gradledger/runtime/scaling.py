"""The probes at GradScaler: which losses carry its scale, and what became of its steps."""

from __future__ import annotations

import sys
import threading
import weakref
from collections import deque
from collections.abc import Callable
from types import FrameType
from typing import Any

from torch import Tensor
from torch.amp import grad_scaler

from gradledger.ledger import events as ev
from gradledger.ledger.site import Site
from gradledger.runtime import graphs
from gradledger.runtime.cohort import Cohort
from gradledger.runtime.observer import Observer
from gradledger.runtime.patch import Patches
from gradledger.runtime.shield import shielded

_REFUSALS = {
    "has already been called since the last update": "already-stepped",
    "_scale is None": "never-scaled",
    "No inf checks were recorded": "no-gradients",
}


_LEAST_SCALE = 64.0
LEAST_SCALED_BOUND = _LEAST_SCALE / 10
"""No smaller clipping bound is taken for one that was multiplied by the scale."""


class Scaling(threading.local):
    """Sees the life of every gradient scaler (cuda's is a subclass of the same class), thread by thread."""

    def __init__(self, observer: Observer) -> None:
        self.observer = observer
        self.pending: deque[tuple[int, int]] = deque(maxlen=32)
        """(birth of the scaled loss's node, scaler) of recent scalings."""
        self.stepping: int | None = None
        """The scaler whose step() is running, if it is enabled."""
        self.stepped = False
        """An optimizer really stepped within it."""
        self.stepping_fused = False
        """That optimizer divides the scale out and skips infinite gradients itself."""
        self._latest: Any = lambda: None
        self._loss: Any = lambda: None
        """The loss that was scaled last."""
        self._lines: dict[tuple[int, int], Site] = {}
        """(scaler, optimizer) -> the line of the latest step."""
        self._built: dict[Site, list[tuple[int, int]]] = {}
        self._in_loop: dict[int, bool] = {}

    def install(self, patches: Patches) -> None:
        """Put the probes in place."""
        scaler = grad_scaler.GradScaler
        patches.wrap(scaler, "__init__", self._init)
        patches.wrap(scaler, "scale", self._scale)
        patches.wrap(scaler, "unscale_", self._unscale)
        patches.wrap(scaler, "step", self._step)
        patches.wrap(scaler, "update", self._update)

    def of(self, tensors: Any) -> int | None:
        """The scaler whose scale is in the loss that is being differentiated."""
        if self._loss() is tensors:
            return self.pending[-1][1]
        starts = graphs.roots(tensors)
        if not starts:
            return None
        born = graphs.born(starts[0])
        for birth, scaler in reversed(self.pending):
            if birth == born or (birth < born and graphs.contains(starts, birth)):
                return scaler
        return None

    def fits(self, bound: Any) -> bool:
        """Whether a clipping bound is so large that it must have been multiplied by the scale."""
        scaler = self._latest()
        try:
            if scaler is None or float(bound) < LEAST_SCALED_BOUND:
                return False
            scale = float(scaler.get_scale())
            return scale >= _LEAST_SCALE and float(bound) >= scale / 10
        except (TypeError, ValueError, RuntimeError):
            return False

    def _number(self, scaler: Any, site: Site | None = None) -> int:
        known = self.observer.others.known(scaler)
        if known is not None:
            return known
        number = self.observer.others.give(scaler)
        enabled = bool(scaler.is_enabled()) if hasattr(scaler, "_enabled") else True
        self.observer.post(ev.ScalerBuilt(site, number, enabled, self._in_loop.pop(id(scaler), False)))
        return number

    def _init(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def __init__(scaler: Any, *args: Any, **kwargs: Any) -> None:
            original(scaler, *args, **kwargs)
            self._made(scaler, self.observer.sites.find(1), sys._getframe(1))

        return __init__

    @shielded
    def _made(self, scaler: Any, site: Site, frame: FrameType) -> None:
        if self.observer.others.known(scaler) is None:
            self._in_loop[id(scaler)] = self._comes_again(site, frame)
            self._number(scaler, site)

    def _comes_again(self, site: Site, frame: FrameType | None) -> bool:
        """Whether a frame that is still running built a scaler at this line before: then it is in a loop.

        A frame is recognised by its address and the line it stands at: k-fold training, which makes a new
        optimizer as well, is told apart by the rule, which asks whether steps of one optimizer went on.
        """
        marks = []
        users = self.observer.sites.frame(frame)
        while users is not None:
            marks.append((id(users), users.f_lineno or 0))
            users = self.observer.sites.frame(users.f_back)
        before = self._built.get(site)
        self._built[site] = marks
        return before is not None and any(mark in before for mark in marks)

    def _scale(self, original: Callable[..., Any]) -> Callable[..., Any]:
        here = self.observer.here

        def scale(scaler: Any, outputs: Any) -> Any:
            result = original(scaler, outputs)
            if not scaler.is_enabled():
                return result
            cruise = here.cruise
            if cruise.on and type(result) is Tensor and cruise.passes(ev.LossScaled, scaler):
                self._keep(scaler, result)
            else:
                self._scaled(scaler, result, self.observer.sites.find(1))
            return result

        return scale

    @shielded
    def _scaled(self, scaler: Any, result: Any, site: Site) -> None:
        number = self._number(scaler)
        for tensor in [result] if isinstance(result, Tensor) else _tensors(result):
            self._keep(scaler, tensor)
        self.observer.post(self.observer.same(("scaled", site, number), lambda: ev.LossScaled(site, number)))

    def _keep(self, scaler: Any, scaled: Tensor) -> None:
        """Remember the loss by its node, to know it again when it is differentiated."""
        self._latest = weakref.ref(scaler)
        number, node = self.observer.others.known(scaler), scaled.grad_fn
        if node is not None and number is not None:
            self.pending.append((graphs.born(node), number))
            self._loss = weakref.ref(scaled)

    def _unscale(self, original: Callable[..., Any]) -> Callable[..., Any]:
        here = self.observer.here

        def unscale_(scaler: Any, optimizer: Any) -> Any:
            if not scaler.is_enabled():
                return original(scaler, optimizer)
            cruise = here.cruise
            if cruise.on and cruise.begins(ev.GradientsUnscaled, scaler, _inner(optimizer)):
                result = original(scaler, optimizer)
                cruise.altered()
                return result
            site = self.observer.sites.find(1)
            found = self._before_unscaling(optimizer, site)
            try:
                result = original(scaler, optimizer)
            except RuntimeError as error:
                if "after step()" in str(error):
                    self._never_updated(scaler, optimizer)
                raise
            if found is not None:
                self._unscaled(scaler, site, *found)
            return result

        return unscale_

    @shielded
    def _never_updated(self, scaler: Any, optimizer: Any) -> None:
        """Torch refuses to unscale what was stepped before: the step's line is what lacks an update()."""
        number = self._number(scaler)
        target, cohorts = self.observer.optimizer(_inner(optimizer))
        site = self._lines.get((number, target))
        if site is not None:
            accounts = tuple([c.account for c in cohorts])
            self.observer.post(ev.StepRefused(site, accounts, target, number, "already-stepped"))

    @shielded
    def _before_unscaling(self, optimizer: Any, site: Site) -> tuple[int, list[Cohort]] | None:
        number, cohorts = self.observer.optimizer(_inner(optimizer))
        self.observer.settle(cohorts, site)
        return number, cohorts

    @shielded
    def _unscaled(self, scaler: Any, site: Site, optimizer: int, cohorts: list[Cohort]) -> None:
        for cohort in cohorts:
            cohort.snapshot(cohort.look())
        number = self._number(scaler)
        accounts = tuple([c.account for c in cohorts])
        event = self.observer.same(
            ("unscaled", site, accounts, number, optimizer),
            lambda: ev.GradientsUnscaled(site, accounts, number, optimizer),
        )
        self.observer.post(event)

    def _step(self, original: Callable[..., Any]) -> Callable[..., Any]:
        here = self.observer.here

        def step(scaler: Any, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            cruise = here.cruise
            if not (cruise.on and cruise.passes(ev.ScalerStepped, scaler, _inner(optimizer))):
                self._called(scaler, optimizer, self.observer.sites.find(1))
            number = self.observer.others.known(scaler) if scaler.is_enabled() else None
            outer, self.stepping, self.stepped = self.stepping, number, False
            self.stepping_fused = bool(getattr(optimizer, "_step_supports_amp_scaling", False))
            try:
                result = original(scaler, optimizer, *args, **kwargs)
            except (RuntimeError, AssertionError) as error:
                self._refused(error, scaler, optimizer, self.observer.sites.find(1))
                raise
            finally:
                self.stepping = outer
                self.stepping_fused = False
            if number is not None and not self.stepped:
                self._skipped(scaler, optimizer, self.observer.sites.find(1))
            return result

        return step

    @shielded
    def _called(self, scaler: Any, optimizer: Any, site: Site) -> None:
        observer = self.observer
        number = self._number(scaler)
        target, _ = observer.optimizer(_inner(optimizer))
        self._lines[number, target] = site
        key = ("scaler step", site, number, target)
        observer.post(observer.same(key, lambda: ev.ScalerStepped(site, number, target)))

    @shielded
    def _skipped(self, scaler: Any, optimizer: Any, site: Site) -> None:
        number = self._number(scaler)
        target, cohorts = self.observer.optimizer(_inner(optimizer))
        accounts = tuple([c.account for c in cohorts])
        for cohort in cohorts:
            cohort.waiting, cohort.spent = 0, False
        key = ("skipped", site, accounts, target, number)
        self.observer.post(self.observer.same(key, lambda: ev.StepSkipped(site, accounts, target, number)))

    @shielded
    def _refused(self, error: BaseException, scaler: Any, optimizer: Any, site: Site) -> None:
        number = self._number(scaler)
        target, cohorts = self.observer.optimizer(_inner(optimizer))
        accounts = tuple([c.account for c in cohorts])
        for text, reason in _REFUSALS.items():
            if text in str(error):
                self.observer.post(ev.StepRefused(site, accounts, target, number, reason))  # type: ignore[arg-type]

    def _update(self, original: Callable[..., Any]) -> Callable[..., Any]:
        here = self.observer.here

        def update(scaler: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(scaler, *args, **kwargs)
            cruise = here.cruise
            if not (cruise.on and cruise.passes(ev.ScalerUpdated, scaler)):
                self._updated(scaler, self.observer.sites.find(1))
            return result

        return update

    @shielded
    def _updated(self, scaler: Any, site: Site) -> None:
        number = self._number(scaler)
        self.observer.post(
            self.observer.same(("update", site, number), lambda: ev.ScalerUpdated(site, number))
        )


def _inner(optimizer: Any) -> Any:
    """The torch optimizer behind a library's wrapper."""
    return optimizer if hasattr(optimizer, "param_groups") else getattr(optimizer, "optimizer", optimizer)


def _tensors(outputs: Any) -> list[Tensor]:
    if isinstance(outputs, Tensor):
        return [outputs]
    return [t for item in outputs for t in _tensors(item)] if isinstance(outputs, (list, tuple)) else []
