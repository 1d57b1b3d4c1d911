"""The probe at backward(): what was added to which gradients, by which line, from which loss."""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Callable, Sequence
from itertools import repeat
from operator import is_not
from types import FrameType
from typing import Any

import torch
from torch import Tensor, nn

from gradledger.ledger import events as ev
from gradledger.ledger.site import Site
from gradledger.runtime import graphs
from gradledger.runtime.alteration import take_sample
from gradledger.runtime.cohort import Cohort, Gone, all_zero, norm
from gradledger.runtime.cruise import Cruise
from gradledger.runtime.keeping import KeptGraphs
from gradledger.runtime.line import Line
from gradledger.runtime.loading import Batches
from gradledger.runtime.loops import Loops
from gradledger.runtime.observer import Observer
from gradledger.runtime.owners import Owners
from gradledger.runtime.patch import Patches
from gradledger.runtime.replicas import Replicas
from gradledger.runtime.scaling import Scaling
from gradledger.runtime.shield import shielded

MEASURED_NUMBERS = 10_000_000
"""Larger gradients are not copied to measure a single pass."""


_PLAIN: tuple[tuple[Any, ...], ...] = ((None, None, False), (), (None, None, None), (None, False, False))
_PLAIN_WORDS: tuple[dict[str, Any], ...] = ({"inputs": None}, {})
"""The arguments of a backward() without anything special, as Tensor.backward() passes them on."""


_running_pass: Callable[[], int] = torch._C._current_graph_task_id
"""The number of the pass inside which this thread is, or -1: quicker to ask than to keep."""


def is_due(count: int) -> bool:
    """The first few times, then ever more rarely: a look whose cost fades with the length of the run."""
    return count < 4 or count & (count - 1) == 0


class Passes(threading.local):
    """Sees torch.autograd.backward, through which every backward goes; lines have a past in each thread."""

    def __init__(
        self,
        observer: Observer,
        scaling: Scaling,
        batches: Batches,
        replicas: Replicas,
        owners: Owners,
        kept: KeptGraphs,
    ) -> None:
        self.observer = observer
        self.scaling = scaling
        self.batches = batches
        self.replicas = replicas
        self.owners = owners
        self.kept = kept
        self.loops = Loops(observer)
        self.suspicious = False
        """A loss was not finite: the next step looks at its gradients."""
        self._lines: dict[int, Line] = {}
        self._retained: list[tuple[int, Site]] = []

    def install(self, patches: Patches) -> None:
        """Put the probe in place."""
        observer = self.observer
        here, scaling, batches = observer.here, self.scaling, self.batches

        def make(original: Callable[..., Any]) -> Callable[..., Any]:
            def backward(tensors: Any, *args: Any, **kwargs: Any) -> Any:
                cruise = here.cruise
                if cruise.on:
                    if _running_pass() >= 0:
                        return original(tensors, *args, **kwargs)
                    if (
                        args in _PLAIN
                        and kwargs in _PLAIN_WORDS
                        and cruise.begins(ev.BackwardRan)
                        and (not scaling.pending or cruise.due.scaled_by == scaling.of(tensors))
                    ):
                        result = original(tensors, *args, **kwargs)
                        cruise.added(batches.given())
                        if type(tensors) is Tensor and tensors.is_cpu and not math.isfinite(tensors.item()):
                            self._went_wrong(cruise)
                        return result
                if here.in_backward or observer.trouble is not None:
                    return original(tensors, *args, **kwargs)
                site = observer.sites.find(1)
                # torch's signature: (tensors, grad_tensors, retain_graph, create_graph, ...)
                keeps = any(args[1:3]) or bool(
                    kwargs and (kwargs.get("retain_graph") or kwargs.get("create_graph"))
                )
                weighted = (bool(args) and args[0] is not None) or kwargs.get("grad_tensors") is not None
                line = self._before(site, tensors, keeps=keeps, weighted=weighted)
                here.in_backward = True
                here.in_pass = None if line is None else lambda cohorts: self._book(line, cohorts)
                try:
                    result = original(tensors, *args, **kwargs)
                finally:
                    here.in_backward = False
                    here.in_pass = None
                if line is not None:
                    self._after(line, tensors)
                return result

            return backward

        patches.wrap(torch.autograd, "backward", make)

    def _went_wrong(self, cruise: Cruise) -> None:
        """A pass in level flight was one from a loss that is not finite."""
        cruise.leave()
        self.suspicious = True

    # -- before -----------------------------------------------------------------------------------------

    @shielded
    def _before(self, site: Site, tensors: Any, *, keeps: bool, weighted: bool) -> Line | None:
        observer = self.observer
        line = self._lines.get(id(site)) or self._first(site)
        self.batches.take(line)
        if line.accumulates:
            # Before the look: what was cleared by hand after the loop was left over by then.
            line.loop = self._loop(line, sys._getframe(3))
        for cohort in observer.mine().copy():
            if cohort.held or cohort.param_mark is not None:
                self._look_first(cohort, site)
        starts: list[Any] | None = None
        count = line.count
        line.count = count + 1
        if count < 48 or not count % 16 or self._handed_over(line):
            starts = graphs.roots(tensors)
            self.kept.tag(starts)
            if is_due(count) or self._handed_over(line):
                self._discover(line, starts)
        if not line.accumulates and any(c.waiting and c.last_line is site for c in line.reached):
            line.accumulates = True
            line.loop = self._loop(line, sys._getframe(3))
        line.booked = False
        line.loss = None
        line.keeps = keeps
        line.reduced = None
        line.scaled = self.scaling.of(tensors) if self.scaling.pending else None
        # A pass with an incoming gradient of its own is part of a larger differentiation.
        whole = (keeps or self._retained) and not weighted
        line.repeats = self._repeats(tensors, site, keeps=keeps) if whole else None
        if line.accumulates:
            if not all(cohort.waiting for cohort in line.reached):
                line.windows += 1
                line.measuring = line.windows < 64 or line.windows % 16 == 0
            if line.measuring:
                starts = graphs.roots(tensors) if starts is None else starts
                if len(starts) == 1:
                    line.loss = graphs.loss_facts(starts[0], scaled=line.scaled is not None)
        return line

    def _handed_over(self, line: Line) -> bool:
        """Whether another thread has trained what this line trains since its last pass here."""
        here = self.observer.here.thread
        return self.observer.several and any(cohort.thread != here for cohort in line.reached)

    def _loop(self, line: Line, frame: FrameType) -> int | None:
        """The plain loop that gives this line its batches, where no loader does."""
        # A loop over the parts of a loader's batches is no epoch.
        return self.loops.turn(line.site, frame) if line.loader is None and line.fed < 2 else None

    def _first(self, site: Site) -> Line:
        observer = self.observer
        observer.note_thread()
        observer.stacks[site] = observer.sites.stack(sys._getframe(4))
        line = self._lines[id(site)] = Line(site)
        return line

    def _look_first(self, cohort: Cohort, site: Site) -> None:
        """Book what was done to this cohort by hand, and copy it if its next pass is to be measured."""
        observer = self.observer
        try:
            if cohort.param_mark is not None and cohort.params_moved():
                observer.moved_by_hand(cohort, site)
            grads = cohort.look()
            if not cohort.unchanged(grads):
                observer.settle([cohort], site)
                grads = cohort.look()
            if not cohort.held:
                return
            cohort.looks += 1
            # `.data.zero_()` leaves no trace but the zeros: look at them before saying "stale".
            if (cohort.spent or cohort.hides_clearing or cohort.looks < 8 or is_due(cohort.looks)) and (
                cohort.spent or cohort.waiting
            ):
                smallest = cohort.smallest()
                if smallest is not None and all_zero([smallest]) and all_zero(grads):
                    cohort.hides_clearing = True
                    observer._cleared(cohort, grads, "zero", site, None)
                    return
            if is_due(cohort.looks) and cohort.numbers <= MEASURED_NUMBERS and not cohort.local:
                with torch.no_grad():
                    cohort.before_pass = [None if g is None else g.detach().clone() for g in grads]
        except Gone:
            observer.forget(cohort)

    def _discover(self, line: Line, starts: list[Any]) -> None:
        """Find leaves that no optimizer holds: forgotten parameters, hand-updated ones, inputs."""
        observer = self.observer
        observer.note_thread()
        if any(cohort.local for cohort in observer.cohorts):
            return  # the leaves of sharded models are not the parameters
        leaves = graphs.leaves(starts)
        strangers = [t for t in leaves if observer.cohort_of(t) is None]
        params = [t for t in strangers if isinstance(t, nn.Parameter)]
        data = [t for t in strangers if not isinstance(t, nn.Parameter)]
        line.averaged_twice |= len(starts) == 1 and graphs.averaged_twice(starts[0])
        if params:
            self.owners.open(params, line.site)
        for tensor in data:
            observer.open([tensor], line.site, trainable=False)
        line.wants_input |= bool(data)
        for tensor in leaves:
            cohort = observer.cohort_of(tensor)
            if cohort is not None:
                cohort.thread = observer.here.thread

    def _repeats(self, tensors: Any, site: Site, *, keeps: bool) -> Site | None:
        """An earlier backward, kept alive by retain_graph, whose root lies inside this graph."""
        starts = graphs.roots(tensors)
        waiting = any(cohort.waiting for cohort in self.observer.mine())
        self._retained = self._retained[-8:] if waiting else []
        found = next((at for birth, at in self._retained if graphs.contains(starts, birth)), None)
        if keeps and starts:
            self._retained.append((graphs.born(starts[0]), site))
        return found

    # -- after ------------------------------------------------------------------------------------------

    @shielded
    def _after(self, line: Line, tensors: Any) -> None:
        observer = self.observer
        cohorts = observer.mine()
        if self.replicas.active:
            line.reduced = self.replicas.reduced()
            self._book(line, cohorts, unseen=self.replicas.unreduced(cohorts))
        else:
            self._book(line, cohorts)
        if observer.outside:
            self.owners.look(line.site)
        value = tensors if isinstance(tensors, Tensor) else tensors[0] if len(tensors) == 1 else None
        if value is not None and value.is_cpu and value.numel() == 1 and not self.suspicious:
            self.suspicious = not _finite_value(value)
        self.kept.check(line.site)

    def _book(self, line: Line, cohorts: Sequence[Cohort], unseen: Sequence[Cohort] = ()) -> None:
        observer = self.observer
        posted: list[Cohort] = []
        for cohort in list(cohorts):
            try:
                grads = cohort.look()
                if not cohort.held and all(map(is_not, grads, repeat(None))):
                    cohort.fill(grads)
                    posted.append(cohort)
                else:
                    posted += self.posted(cohort, grads)
            except Gone:
                observer.forget(cohort)
        posted += [cohort for cohort in unseen if cohort not in posted]
        if not posted and line.booked:
            return
        line.booked = True
        if line.reduced is None and self.replicas.active and self.replicas.passed_by(posted):
            line.reduced = False
        accounts = tuple([cohort.account for cohort in posted])
        observer.post(line.event(accounts))
        observer.passed(line.site)
        sampled = line.scaled is not None or line.loss is not None
        line.reached = posted
        for cohort in posted:
            cohort.waiting += 1
            cohort.thread = observer.here.thread
            cohort.last_line = line.site
            if cohort.wasteful:
                cohort.note_pass()
            if sampled:
                cohort.sample = take_sample(cohort)
        if line.loss is not None and accounts:
            loss = line.loss
            observer.post(ev.LossMeasured(line.site, accounts, loss.reduction, loss.factor, loss.count))

    def posted(self, cohort: Cohort, grads: list[Tensor | None]) -> list[Cohort]:
        """The cohort, or the part of it, that this pass has added to."""
        if cohort.unchanged(grads):
            cohort.before_pass = None
            return []
        changes = cohort.changes(grads)
        touched = [i for i, change in enumerate(changes) if change != "same"]
        if len(touched) < len(changes):
            params = cohort.params()
            parts = self.observer.cohorts_of([params[i] for i in touched])
            cohort.before_pass = None
            for part in parts:
                part.snapshot(part.look())
            return parts
        cohort.snapshot(grads)
        if cohort.before_pass is not None:
            self._measure(cohort, grads)
        return [cohort]

    def _measure(self, cohort: Cohort, grads: list[Tensor | None]) -> None:
        before, cohort.before_pass = cohort.before_pass, None
        assert before is not None
        with torch.no_grad():
            added = [
                g if old is None or g is None else g.detach() - old
                for g, old in zip(grads, before, strict=True)
            ]
        self.observer.post(ev.NormMeasured(None, (cohort.account,), norm(grads), norm(added)))


def _finite_value(value: Tensor) -> bool:
    try:
        return math.isfinite(value.item())
    except (RuntimeError, TypeError, ValueError, OverflowError):
        return True
