"""The probe at backward(): what was added to which gradients, by which line, from which loss."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from gradledger.ledger import events as ev
from gradledger.ledger.site import Site
from gradledger.runtime import graphs, source
from gradledger.runtime.cohort import Cohort, Gone, all_zero, norm
from gradledger.runtime.keeping import KeptGraphs
from gradledger.runtime.loading import Batches
from gradledger.runtime.loops import Loops
from gradledger.runtime.observer import Observer, take_sample
from gradledger.runtime.owners import Owners
from gradledger.runtime.patch import Patches
from gradledger.runtime.replicas import Replicas
from gradledger.runtime.scaling import Scaling
from gradledger.runtime.shield import shielded

MEASURED_NUMBERS = 10_000_000
"""Larger gradients are not copied to measure a single pass."""


def is_due(count: int) -> bool:
    """The first few times, then ever more rarely: a look whose cost fades with the length of the run."""
    return count < 4 or count & (count - 1) == 0


class Passes:
    """Sees torch.autograd.backward, through which every backward goes."""

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
        self._seen: dict[Site, int] = {}
        self._wants_input: dict[Site, bool] = {}
        self._averaged_twice: set[Site] = set()
        self._accumulates: set[Site] = set()
        self._windows: dict[Site, int] = {}
        self._retained: list[tuple[int, Site, frozenset[int]]] = []
        self._measuring = False

    def install(self, patches: Patches) -> None:
        """Put the probe in place."""

        def make(original: Callable[..., Any]) -> Callable[..., Any]:
            def backward(tensors: Any, *args: Any, **kwargs: Any) -> Any:
                if self.observer.here.in_backward:
                    return original(tensors, *args, **kwargs)
                return self._run(original, tensors, args, kwargs)

            return backward

        patches.wrap(torch.autograd, "backward", make)

    def _run(self, original: Callable[..., Any], tensors: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        observer = self.observer
        site = observer.sites.find(2)
        retain = _argument(args, kwargs, 1, "retain_graph")
        create = bool(_argument(args, kwargs, 2, "create_graph"))
        facts = self._before(site, tensors, keeps=bool(retain) or create)
        here = observer.here
        here.in_backward = True
        if facts is not None:
            here.in_pass = lambda cohorts: self._book(site, cohorts, facts)
        try:
            result = original(tensors, *args, **kwargs)
        finally:
            here.in_backward = False
            here.in_pass = None
        if facts is not None:
            self._after(site, tensors, facts)
        return result

    # -- before -----------------------------------------------------------------------------------------

    @shielded
    def _before(self, site: Site, tensors: Any, *, keeps: bool) -> _Facts | None:
        observer = self.observer
        observer.note_thread()
        for cohort in list(observer.mine()):
            if cohort.held or cohort.param_mark is not None:
                self._look_first(cohort, site)
        starts: list[Any] | None = None
        count = self._seen.get(site, 0)
        self._seen[site] = count + 1
        if not count:
            observer.stacks[site] = observer.sites.stack(sys._getframe(4))
        if is_due(count):
            starts = graphs.roots(tensors)
            self._discover(site, starts)
        accumulates = site in self._accumulates
        waiting = False
        for cohort in observer.mine():
            if cohort.waiting:
                waiting = True
                break
        if waiting and not accumulates:
            accumulates = self._note_accumulation(site)
        scaled = self.scaling.of(tensors) if self.scaling.pending else None
        repeats = self._repeats(tensors, site, keeps=keeps) if keeps or self._retained else None
        loader = self.batches.take()
        loop = self.loops.turn(site, sys._getframe(4)) if accumulates and loader is None else None
        twice = site in self._averaged_twice
        facts = _Facts(scaled, repeats, self._wants_input.get(site, False), loader, loop, keeps, twice)
        if accumulates:
            if not waiting:
                windows = self._windows[site] = self._windows.get(site, 0) + 1
                self._measuring = windows < 64 or windows % 16 == 0
            if self._measuring:
                starts = graphs.roots(tensors) if starts is None else starts
                facts.loss = graphs.loss_facts(starts[0], scaled=scaled is not None) if len(starts) == 1 else None
        if count < 48 or count % 16 == 0:
            self.kept.tag(graphs.roots(tensors) if starts is None else starts, site)
        return facts

    def _look_first(self, cohort: Cohort, site: Site) -> None:
        """Book what the program did to this cohort by hand, and copy it if its next pass is to be measured."""
        observer = self.observer
        try:
            if cohort.param_mark is not None and cohort.params_moved():
                self._stepped_by_hand(cohort, site)
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

    def _stepped_by_hand(self, cohort: Cohort, site: Site) -> None:
        observer = self.observer
        at = source.hand_written_update(site, before=observer.last_backward)
        cohort.mark_params()
        if at is None:
            # Loaded, averaged or clamped: no use of the gradient.
            moved = (cohort.account,)
            observer.post(observer.same(("moved", moved), lambda: ev.ParametersMoved(None, moved)))
            return
        event = observer.same(
            ("hand", cohort.account, at), lambda: ev.OptimizerStepped(at, (cohort.account,), None)
        )
        observer.post(event)
        cohort.spent, cohort.waiting = cohort.held, 0

    def _discover(self, site: Site, starts: list[Any]) -> None:
        """Find leaves that no optimizer holds: forgotten parameters, hand-updated ones, inputs."""
        observer = self.observer
        if any(cohort.local for cohort in observer.cohorts):
            return  # the leaves of sharded models are not the parameters
        leaves = graphs.leaves(starts)
        strangers = [t for t in leaves if observer.cohort_of(t) is None]
        params = [t for t in strangers if isinstance(t, nn.Parameter)]
        data = [t for t in strangers if not isinstance(t, nn.Parameter)]
        known_data = self._wants_input.get(site, False)
        if len(starts) == 1 and graphs.averaged_twice(starts[0]):
            self._averaged_twice.add(site)
        if params:
            self.owners.open(params, site)
        for tensor in data:
            observer.open([tensor], site, trainable=False)
        self._wants_input[site] = known_data or bool(data)
        for tensor in leaves:
            cohort = observer.cohort_of(tensor)
            if cohort is not None:
                cohort.thread = observer.here.thread

    def _note_accumulation(self, site: Site) -> bool:
        if self.observer.last_backward == site:
            self._accumulates.add(site)
            return True
        return False

    def _repeats(self, tensors: Any, site: Site, *, keeps: bool) -> Site | None:
        """An earlier backward, kept alive by retain_graph, whose root lies inside this graph."""
        starts = graphs.roots(tensors)
        waiting = {c.account for c in self.observer.mine() if c.waiting}
        self._retained = [r for r in self._retained if waiting][-8:]
        found = next((at for birth, at, _ in self._retained if graphs.contains(starts, birth)), None)
        if keeps and starts:
            self._retained.append((graphs.born(starts[0]), site, frozenset()))
        return found

    # -- after ------------------------------------------------------------------------------------------

    @shielded
    def _after(self, site: Site, tensors: Any, facts: _Facts) -> None:
        facts.reduced = self.replicas.reduced()
        cohorts = self.observer.mine()
        self._book(site, cohorts, facts, unseen=self.replicas.unreduced(cohorts))
        if self.observer.outside:
            self.owners.look(site)
        value = tensors if isinstance(tensors, Tensor) else tensors[0] if len(tensors) == 1 else None
        if value is not None and value.device.type == "cpu" and value.numel() == 1 and not self.suspicious:
            self.suspicious = not _finite_value(value)
        self.kept.check(site)

    def _book(self, site: Site, cohorts: Sequence[Cohort], facts: _Facts, unseen: Sequence[Cohort] = ()) -> None:
        observer = self.observer
        posted: list[Cohort] = []
        for cohort in list(cohorts):
            try:
                posted += self._posted(cohort, site)
            except Gone:
                observer.forget(cohort)
        posted += [cohort for cohort in unseen if cohort not in posted]
        if not posted:
            posted_to: tuple[int, ...] = ()
            if facts.booked:
                return
        else:
            posted_to = tuple([c.account for c in posted])
        facts.booked = True
        key = (site, posted_to, facts.scaled, facts.reduced, facts.repeats, facts.wants_input, facts.loader, facts.loop,
               facts.keeps, facts.averaged_twice)  # fmt: skip
        event = observer.events.get(key)
        if event is None:
            event = observer.same(key, lambda: facts.event(site, posted_to))
        observer.post(event)
        observer.last_backward = site
        for cohort in posted:
            cohort.waiting += 1
            if facts.scaled is not None or facts.loss is not None:
                cohort.sample = take_sample(cohort)
        if facts.loss is not None and posted_to:
            loss = facts.loss
            observer.send(ev.LossMeasured(site, posted_to, loss.reduction, loss.factor, loss.count))

    def _posted(self, cohort: Cohort, site: Site) -> list[Cohort]:
        """The cohort, or the part of it, that this pass has added to."""
        grads = cohort.look()
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
                g if old is None or g is None else g.detach() - old for g, old in zip(grads, before, strict=True)
            ]
        self.observer.send(ev.NormMeasured(None, (cohort.account,), norm(grads), norm(added)))


class _Facts:
    """What is known of one pass."""

    __slots__ = ("averaged_twice", "booked", "keeps", "loader", "loop", "loss", "reduced", "repeats", "scaled", "wants_input")

    def __init__(
        self,
        scaled: int | None,
        repeats: Site | None,
        wants_input: bool,  # noqa: FBT001
        loader: int | None,
        loop: int | None,
        keeps: bool,  # noqa: FBT001
        averaged_twice: bool,  # noqa: FBT001
    ) -> None:
        self.scaled = scaled
        self.repeats = repeats
        self.wants_input = wants_input
        self.loader = loader
        self.loop = loop
        self.keeps = keeps
        self.averaged_twice = averaged_twice
        self.reduced: bool | None = None
        self.loss: graphs.LossFacts | None = None
        self.booked = False

    def event(self, site: Site, accounts: tuple[int, ...]) -> ev.BackwardRan:
        return ev.BackwardRan(
            site,
            accounts,
            scaled_by=self.scaled,
            reduced=self.reduced,
            repeats=self.repeats,
            wants_input=self.wants_input,
            loader=self.loader,
            loop=self.loop,
            averaged_twice=self.averaged_twice,
            kept_graph=self.keeps,
        )


def _argument(args: tuple[Any, ...], kwargs: dict[str, Any], position: int, name: str) -> Any:
    return args[position] if len(args) > position else kwargs.get(name)


def _finite_value(value: Tensor) -> bool:
    try:
        return math.isfinite(value.item())
    except (RuntimeError, TypeError, ValueError, OverflowError):
        return True
