"""The probe at learning-rate schedulers."""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

from torch.optim import lr_scheduler

from gradledger.ledger import events as ev
from gradledger.runtime.observer import Observer
from gradledger.runtime.patch import TRANSPARENT, Patches
from gradledger.runtime.shield import shielded

_BASE = lr_scheduler.LRScheduler


class _Depth(threading.local):
    """Whether this thread is inside of an advance."""

    inside = False


class Scheduling:
    """Sees the advances of every scheduler, also of classes the user wrote."""

    def __init__(self, observer: Observer) -> None:
        self.observer = observer
        self._depth = _Depth()
        self._patches: Patches | None = None

    def install(self, patches: Patches) -> None:
        """Put the probes in place."""
        self._patches = patches
        patches.wrap(_BASE, "__init__", self._init)
        for kind in _family(_BASE):
            self._cover(kind)

    def _init(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def __init__(scheduler: Any, *args: Any, **kwargs: Any) -> None:
            for kind in type(scheduler).__mro__:
                self._cover(kind)
            original(scheduler, *args, **kwargs)

        return __init__

    def _cover(self, kind: type) -> None:
        patches = self._patches
        if patches is None or "step" not in vars(kind) or not issubclass(kind, _BASE):
            return
        if not patches.covers(kind, "step"):
            patches.wrap(kind, "step", self._step)

    def _step(self, original: Callable[..., Any]) -> Callable[..., Any]:
        here, depth = self.observer.here, self._depth

        def step(scheduler: Any, *args: Any, **kwargs: Any) -> Any:
            if depth.inside:
                return original(scheduler, *args, **kwargs)
            depth.inside = True
            try:
                result = original(scheduler, *args, **kwargs)
            finally:
                depth.inside = False
            cruise = here.cruise
            if cruise.on and not args and not kwargs and cruise.passes(ev.SchedulerStepped, scheduler):
                return result
            if _caller(sys._getframe(1)) not in ("_initial_step", "__init__"):
                self._post(scheduler, args, kwargs)
            return result

        return step

    @shielded
    def _post(self, scheduler: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        observer = self.observer
        optimizer = getattr(scheduler, "optimizer", None)
        if optimizer is None or not hasattr(optimizer, "param_groups"):
            return
        optimizer = (
            getattr(optimizer, "optimizer", optimizer) if hasattr(optimizer, "optimizer") else optimizer
        )
        site = observer.sites.find(3)
        owner, _ = observer.optimizer(optimizer)
        number = observer.others.known(scheduler)
        kind = type(scheduler).__name__
        if number is None:
            number = observer.others.give(scheduler)
            built = ev.SchedulerBuilt(None, number, owner, kind, _horizon(scheduler), kind == "CyclicLR")
            observer.post(built)
        explicit = kind != "ReduceLROnPlateau" and (bool(args) or kwargs.get("epoch") is not None)
        event = observer.same(
            ("schedule", site, number, owner, explicit),
            lambda: ev.SchedulerStepped(site, number, owner, explicit),
        )
        observer.post(event)


def _caller(frame: FrameType | None) -> str:
    """The function that calls, behind wrappers of other audits."""
    while frame is not None and frame.f_code.co_filename == TRANSPARENT:
        frame = frame.f_back
    return "" if frame is None else frame.f_code.co_name


def _family(kind: type) -> list[type]:
    children: list[type] = kind.__subclasses__()
    return [kind, *(inner for child in children for inner in _family(child))]


def _horizon(scheduler: Any) -> int | None:
    """How many advances the schedule was planned for, as far as its settings say."""
    parts = getattr(scheduler, "_schedulers", None)
    if parts:
        inner = [_horizon(part) for part in parts]
        ends = [*(h for h in inner if h is not None), *getattr(scheduler, "_milestones", ())]
        return max(ends, default=None)
    for name in ("total_steps", "T_max", "total_iters", "step_size"):
        value = getattr(scheduler, name, None)
        if isinstance(value, int):
            return value
    milestones = getattr(scheduler, "milestones", None)
    if milestones:
        return int(max(milestones))
    planned = [n for fn in getattr(scheduler, "lr_lambdas", ()) for n in _numbers(fn)]
    return max(planned, default=None)


def _numbers(function: Any) -> list[int]:
    """Whole numbers that a schedule written as a function refers to."""
    found: list[Any] = []
    if isinstance(function, functools.partial):
        found += [*function.keywords.values(), *function.args]
        function = function.func
    found += [cell.cell_contents for cell in getattr(function, "__closure__", None) or () if _filled(cell)]
    found += [*(getattr(function, "__defaults__", None) or ())]
    found += list(vars(function).values()) if hasattr(function, "__dict__") else []
    code = getattr(function, "__code__", None)
    if code is not None:
        owners = [getattr(function, "__self__", None), *found]
        settings = [vars(owner) for owner in owners if hasattr(owner, "__dict__")]
        found += [fields.get(name) for fields in settings for name in code.co_names]
        found += [function.__globals__.get(name) for name in code.co_names]
        found += list(code.co_consts)
    return [n for n in found if isinstance(n, int) and not isinstance(n, bool) and n > 1]


def _filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True
