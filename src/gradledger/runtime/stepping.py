"""The probe at optimizers: construction and steps, through torch's own global step hooks."""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

from torch.optim import optimizer as optim

from gradledger.ledger import events as ev
from gradledger.ledger.site import Site
from gradledger.runtime import guards, source
from gradledger.runtime.cohort import Cohort, Gone, all_zero, finite
from gradledger.runtime.observer import Observer
from gradledger.runtime.owners import Owners
from gradledger.runtime.passes import Passes, is_due
from gradledger.runtime.patch import Patches
from gradledger.runtime.scaling import Scaling
from gradledger.runtime.shield import shielded


class Steps(threading.local):
    """Sees every optimizer step, also of optimizers the user wrote; each thread has a step of its own."""

    def __init__(self, observer: Observer, scaling: Scaling, passes: Passes, owners: Owners) -> None:
        self.observer = observer
        self._scaling = scaling
        self._passes = passes
        self._owners = owners
        self._outer: FrameType | None = None
        """The frame of the outermost step that is running: wrappers call others' steps inside their own."""
        self._pending: tuple[Site, int, list[Cohort]] | None = None
        self._counts: dict[int, int] = {}
        self._empty: dict[int, int] = {}
        self._clears_by_hand: dict[int, bool] = {}
        """For each step's line, whether its file clears gradients without zero_grad()."""
        self._hidden: dict[tuple[int, int], Site | None] = {}
        """For each step and backward the line between them that may have cleared what no look reveals."""

    def install(self, patches: Patches) -> None:
        """Put the probes in place."""

        def make(original: Callable[..., Any]) -> Callable[..., Any]:
            def __init__(optimizer: Any, *args: Any, **kwargs: Any) -> None:
                original(optimizer, *args, **kwargs)
                self._built(optimizer, self.observer.sites.find(1))

            return __init__

        patches.wrap(optim.Optimizer, "__init__", make)

        here, scaling = self.observer.here, self._scaling

        def before(optimizer: Any, args: Any, kwargs: Any) -> Any:
            frame, cruise = sys._getframe(1), here.cruise
            plain = cruise.on and len(args) == 1 and not kwargs and self._outer is None
            if plain and cruise.steps(optimizer):
                self._outer = frame
                scaling.stepped = True
                return None
            return self._before(frame, optimizer, args, kwargs)

        def after(optimizer: Any, args: Any, kwargs: Any) -> None:
            outer = self._outer
            if outer is not None and self._pending is None:
                if sys._getframe(1) is outer:
                    self._outer = None
                return
            self._after(sys._getframe(1))

        for hook in (before, after):
            setattr(hook, "_torchdynamo_disable", True)  # noqa: B010
        patches.later(optim.register_optimizer_step_pre_hook(before).remove)
        patches.later(optim.register_optimizer_step_post_hook(after).remove)

    @shielded
    def _built(self, optimizer: Any, site: Site) -> None:
        self.observer.optimizer(optimizer, site)

    @shielded
    def _before(self, frame: FrameType, optimizer: Any, args: Any, kwargs: Any) -> Any:
        if self._outer is not None:
            if _running(self._outer, frame):
                return None
            self._outer, self._pending = None, None
        observer = self.observer
        site = observer.sites.find(2)
        number, cohorts = observer.optimizer(optimizer)
        self._outer = frame
        self._scaling.stepped = True
        if observer.here.in_pass is not None:
            observer.cruise.allowed = False  # steps inside backward have an order of their own
            observer.here.in_pass(cohorts)
        observer.settle(cohorts, site)
        self._settle_others(number, site)
        closure = args[1] if len(args) > 1 else kwargs.get("closure")
        if callable(closure):
            self._pending = (site, number, cohorts)
            counted = self._counted(closure, number, cohorts, site)
            if len(args) > 1:
                return ((args[0], counted, *args[2:]), kwargs)
            return (args, {**kwargs, "closure": counted})
        self._look_for_zeros(site, cohorts)
        self._post(site, number, cohorts)
        return None

    def _settle_others(self, number: int, site: Site) -> None:
        """Book what was cleared by hand of other optimizers, before this step is said to have come first."""
        others = [c for c in self.observer.mine() if c.waiting and c.optimizer != number]
        if others:
            if id(site) not in self._clears_by_hand:
                self._clears_by_hand[id(site)] = source.hand_written_clear(site) is not None
            if self._clears_by_hand[id(site)]:
                self.observer.settle(others, site)

    @shielded
    def _after(self, frame: FrameType) -> None:
        if self._outer is None or frame is not self._outer:
            return
        self._outer = None
        if self._pending is not None:
            (site, number, cohorts), self._pending = self._pending, None
            self.observer.settle(cohorts, site)
            self._post(site, number, cohorts)

    def _counted(
        self, closure: Callable[..., Any], number: int, cohorts: list[Cohort], site: Site
    ) -> Callable[..., Any]:
        """The closure, telling when an optimizer that has used its gradients evaluates it once more."""
        observer = self.observer
        calls = 0

        @functools.wraps(closure)
        def evaluate(*args: Any, **kwargs: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls > 1 and observer.trouble is None:
                accounts = tuple([c.account for c in cohorts])
                event = observer.same(
                    ("closure", site, accounts, number), lambda: ev.ClosureEvaluated(site, accounts, number)
                )
                observer.post(event)
                for cohort in cohorts:
                    cohort.spent, cohort.waiting = cohort.held, 0
            return closure(*args, **kwargs)

        return evaluate

    def _post(self, site: Site, number: int, cohorts: list[Cohort]) -> None:
        observer = self.observer
        accounts = tuple([c.account for c in cohorts])
        count = self._counts[number] = self._counts.get(number, 0) + 1
        nonfinite = False
        if (self._passes.suspicious or is_due(count)) and not self._scaling.stepping_fused:
            nonfinite = not self._finite(cohorts)
        if not any(c.held for c in cohorts):
            self._found_nothing(number, cohorts)
        backward = observer.last_backward
        scaler = self._scaling.stepping
        # A step before the first pass says nothing yet about windows.
        key = (id(site), accounts, number, scaler, nonfinite, backward is None)
        event = observer.events.get(key)
        if event is None or event.site is not site:
            windowed = self._closes_windows(backward)
            event = ev.OptimizerStepped(site, accounts, number, scaler, nonfinite, windowed)
            observer.remember(key, event)
        observer.post(event)
        self._passes.suspicious = False
        observer.cruise.stepped()
        for cohort in cohorts:
            cohort.spent, cohort.waiting = cohort.held, 0
            cohort.changed_by_step = True
            cohort.sample = None

    def _look_for_zeros(self, site: Site, cohorts: list[Cohort]) -> None:
        """Book a clearing that left no trace but zeros, where the text between backward and step has one."""
        observer = self.observer
        backward = observer.last_backward
        if backward is None:
            return
        key = id(site), id(backward)
        if key not in self._hidden:
            steps = observer.sites.stack(sys._getframe(2))
            self._hidden[key] = source.hidden_clear(steps, observer.stacks.get(backward, ()))
        clear = self._hidden[key]
        if clear is None:
            return
        observer.cruise.allowed = False  # an outline would see nothing of it
        waiting = [cohort for cohort in cohorts if cohort.waiting and cohort.held]
        smallest = [cohort.smallest() for cohort in waiting]
        if all_zero(smallest) and all(all_zero(cohort.look()) for cohort in waiting):
            observer.cleared(waiting, clear, by="hand", to="zero")

    def _closes_windows(self, backward: Site | None) -> bool:
        """Asked once for each kind of step, while the step's frames are on the stack."""
        if backward is None:
            return False
        steps = self.observer.sites.stack(sys._getframe(1))
        return guards.steps_close_windows(steps, self.observer.stacks.get(backward, ()))

    def _finite(self, cohorts: list[Cohort]) -> bool:
        try:
            return all(finite(cohort.look()) for cohort in cohorts)
        except (Gone, RuntimeError):
            return True

    def _found_nothing(self, number: int, cohorts: list[Cohort]) -> None:
        empty = self._empty[number] = self._empty.get(number, 0) + 1
        if empty == 2:
            self._owners.orphaned(number, cohorts)


def _running(outer: FrameType, frame: FrameType | None) -> bool:
    """Whether the outer step is still on this stack (it is not, if it raised)."""
    while frame is not None:
        if frame is outer:
            return True
        frame = frame.f_back
    return False
