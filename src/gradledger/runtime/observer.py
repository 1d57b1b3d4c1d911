"""The observer: what every probe shares, and the look at all gradients at each boundary of the cycle."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from torch import Tensor

from gradledger.ledger import events as ev
from gradledger.ledger.site import Site
from gradledger.runtime import source
from gradledger.runtime.alteration import alteration
from gradledger.runtime.cohort import Cohort, Gone, all_zero
from gradledger.runtime.cruise import Cruise
from gradledger.runtime.here import Flights, Here, new_lock
from gradledger.runtime.numbering import Numbering
from gradledger.runtime.own_methods import own_methods
from gradledger.runtime.rates import divided_rate
from gradledger.runtime.sites import Sites
from gradledger.runtime.steady import Steady


class Observer:
    """Turns what the probes see into events; knows every parameter in view, weakly."""

    def __init__(
        self, post: Callable[[ev.Event], None], sites: Sites | None = None, steady: Steady | None = None
    ) -> None:
        self.send = post
        self.sites = sites or Sites()
        self.events: dict[Any, ev.Event] = {}
        self.cohorts: list[Cohort] = []
        self.by_optimizer: dict[int, list[Cohort]] = {}
        self.by_param: dict[int, tuple[weakref.ref[Tensor], Cohort]] = {}
        self.optimizers = Numbering()
        self.others = Numbering()
        self.loops = itertools.count(1_000_001)
        """Numbers for loops, and for readers of a data set that another thread reads as well."""
        self.latest_backward: Site | None = None
        self.latest_event: Site | None = None
        """Of any thread."""
        self.stacks: dict[Site, source.Stack] = {}
        """How each backward() line was first reached."""
        self.several = False
        """Several threads train side by side."""
        self._held: dict[int, int] = {}
        self.threads: set[int] = set()
        """The threads that have run a backward."""
        self.lock = new_lock()
        self.outside = 0
        """Cohorts that no optimizer holds."""
        self._accounts = 0
        self._steady = steady
        self.flights = Flights(self._new_cruise, self.lock)
        self.here = Here(self.flights)
        self.trouble: Exception | None = None
        """Our own fault, after which nothing more is booked."""

    def _new_cruise(self) -> Cruise:
        steady = self._steady
        cruise = Cruise(
            is_calm=lambda events: steady is not None and steady.is_calm(events),
            repeat=lambda events, times: steady.repeat(events, times) if steady is not None else None,
            land=self._land,
            places=self.sites.place,
            cohorts=self.mine,
            optimizers=self.optimizers,
            others=self.others,
            fail=self.fail,
            lock=self.lock,
        )
        cruise.allowed = steady is not None
        return cruise

    @property
    def cruise(self) -> Cruise:
        """The flight of this thread."""
        return self.here.cruise

    @property
    def last_backward(self) -> Site | None:
        """The line of this thread's latest backward; of anybody's, if this thread only looks on."""
        mine = self.cruise.last_backward
        return self.latest_backward if mine is None and not self.several else mine

    def passed(self, site: Site | None) -> None:
        """A backward of this thread, from this line, was booked."""
        self.cruise.last_backward = self.latest_backward = site

    @property
    def last_event(self) -> Site | None:
        """The line of its latest event."""
        mine = self.cruise.last_event
        return self.latest_event if mine is None and not self.several else mine

    def post(self, event: ev.Event) -> None:
        """Send an event on."""
        self._post(self.here.cruise, event)

    def _post(self, cruise: Cruise, event: ev.Event) -> None:
        with self.lock:
            cruise.last_event = self.latest_event = event.site
            cruise.turn.append(event)
            self.send(event)

    def fail(self, trouble: Exception) -> None:
        """Stop booking because of a fault of our own."""
        self.trouble = trouble

    def _land(self, cruise: Cruise, events: Sequence[ev.Event]) -> None:
        """Book the unfinished turn of a flight event by event."""
        cruise.turn = []
        for event in events:
            self._post(cruise, event)
            if isinstance(event, ev.BackwardRan):
                cruise.last_backward = self.latest_backward = event.site

    def note_thread(self) -> None:
        """Remember that this thread trains."""
        if self.here.thread not in self.threads:
            self.threads.add(self.here.thread)
            self.several = len(self.threads) > 1

    def mine(self) -> list[Cohort]:
        """The cohorts this thread may look at: all, unless several threads train side by side."""
        if not self.several:
            return self.cohorts
        mine = (self.here.thread, 0)
        return [cohort for cohort in self.cohorts if cohort.thread in mine]

    def same(self, key: Any, make: Callable[[], ev.Event]) -> ev.Event:
        """The one event object for this key: the journal recognises it at once."""
        event = self.events.get(key)
        return self.remember(key, make()) if event is None else event

    def remember(self, key: Any, event: ev.Event) -> ev.Event:
        """The event, which is the one for this key from now on."""
        if len(self.events) > 20_000:
            self.events.clear()
        self.events[key] = event
        return event

    # -- parameters -------------------------------------------------------------------------------------

    def open(self, params: Sequence[Tensor], site: Site | None, **facts: Any) -> Cohort | None:
        """Open an account for parameters not seen before; known ones stay where they are."""
        optimizer: int | None = facts.get("optimizer")
        new = [p for p in params if self.cohort_of(p) is None]
        if not new:
            return None
        self._accounts += 1
        cohort = Cohort(self._accounts, new, optimizer)
        self.post(ev.AccountOpened(site, self._accounts, len(new), **facts))
        if cohort.held:
            # Gradients that were there before the audit began count as put there by the program.
            self.post(ev.GradientAssigned(None, (cohort.account,)))
        self._take_in(cohort, new)
        return cohort

    def _take_in(self, cohort: Cohort, params: Sequence[Tensor]) -> None:
        self.cohorts.append(cohort)
        if cohort.optimizer is not None:
            self.by_optimizer.setdefault(cohort.optimizer, []).append(cohort)
        else:
            self.outside += 1
            cohort.mark_params()
        for p in params:
            self.by_param[id(p)] = (weakref.ref(p), cohort)

    def cohort_of(self, param: Tensor) -> Cohort | None:
        """The cohort this parameter is in, if it has been seen."""
        entry = self.by_param.get(id(param))
        return entry[1] if entry is not None and entry[0]() is param else None

    def cohorts_of(self, params: Iterable[Tensor]) -> list[Cohort]:
        """The cohorts these parameters are in, splitting those that are only partly meant."""
        groups: dict[int, tuple[Cohort, set[int]]] = {}
        for p in params:
            cohort = self.cohort_of(p)
            if cohort is not None:
                groups.setdefault(cohort.account, (cohort, set()))[1].add(id(p))
        found = []
        for cohort, wanted in groups.values():
            inside = [i for i, ref in enumerate(cohort.refs) if id(ref()) in wanted]
            found.append(cohort if len(inside) == len(cohort.refs) else self.split(cohort, inside))
        return found

    def split(self, cohort: Cohort, indices: Sequence[int], site: Site | None = None) -> Cohort:
        """Move some parameters of a cohort to a new account with the same past."""
        chosen = set(indices)
        params = cohort.params()
        moved = [params[i] for i in indices]
        self._accounts += 1
        other = Cohort(self._accounts, moved, cohort.optimizer)
        for name in ("spent", "waiting", "last_line", "changed_by_step", "hides_clearing", "looks", "thread"):
            setattr(other, name, getattr(cohort, name))
        other.held, other.local = cohort.held, cohort.local
        if cohort.held:
            other.ids = [cohort.ids[i] for i in indices]
            other.versions = [cohort.versions[i] for i in indices]
            if len(cohort.grads) == len(params):
                other.grads = [cohort.grads[i] for i in indices]
        cohort.keep([i for i in range(len(params)) if i not in chosen])
        self.post(
            ev.AccountOpened(
                site, other.account, len(moved), parent=cohort.account, optimizer=cohort.optimizer
            )
        )
        self._take_in(other, moved)
        return other

    def forget(self, cohort: Cohort) -> None:
        """Drop what is left of a cohort whose parameters have died; survivors are looked at anew."""
        alive = [i for i, ref in enumerate(cohort.refs) if ref() is not None]
        if alive and len(alive) < len(cohort.refs):
            cohort.keep(alive)
            return
        if cohort not in self.cohorts:
            return  # one look after another may find it gone
        self.cohorts.remove(cohort)
        cohort.empty()  # a backward() line may remember it
        self._held.clear()
        self.by_param = {key: entry for key, entry in self.by_param.items() if entry[1] is not cohort}
        if cohort.optimizer is None:
            self.outside -= 1
        elif cohort in self.by_optimizer.get(cohort.optimizer, ()):
            self.by_optimizer[cohort.optimizer].remove(cohort)

    def sweep(self) -> None:
        """Forget every cohort of which a parameter has died."""
        for cohort in list(self.cohorts):
            if any(ref() is None for ref in cohort.refs):
                self.forget(cohort)

    def optimizer(self, optimizer: Any, site: Site | None = None) -> tuple[int, list[Cohort]]:
        """The optimizer's number and cohorts, up to date with its parameter groups."""
        number = self.optimizers.known(optimizer)
        total = 0
        for group in optimizer.param_groups:
            total += len(group["params"])
        if number is not None and self._held.get(number) == total:
            return number, self.by_optimizer[number]
        params = [p for group in optimizer.param_groups for p in group["params"] if isinstance(p, Tensor)]
        if number is None:
            number = self.optimizers.give(optimizer)
            kind, own = type(optimizer).__name__, own_methods(optimizer)
            self.post(ev.OptimizerBuilt(site, number, kind, divided_rate(site), own))
        cohorts = self.by_optimizer.setdefault(number, [])
        if sum(len(c.refs) for c in cohorts) != len(params) or not params:
            strangers = [p for p in params if self.cohort_of(p) is None]
            if strangers:
                self.open(strangers, site, optimizer=number)
            for cohort in self.cohorts_of(params):
                if cohort.optimizer is None:
                    self._adopt(cohort, number)
                elif cohort not in cohorts:
                    cohorts.append(cohort)
        self._held[number] = total
        return number, cohorts

    def _adopt(self, cohort: Cohort, optimizer: int) -> None:
        """Parameters seen before their optimizer: their books go on under it."""
        cohort.optimizer = optimizer
        cohort.param_mark = None
        self.outside -= 1
        self.by_optimizer.setdefault(optimizer, []).append(cohort)
        self.post(ev.AccountTaken(None, (cohort.account,), optimizer))

    # -- boundaries -------------------------------------------------------------------------------------

    def settle(
        self, cohorts: Iterable[Cohort], site: Site | None, *, clear: ev.GradientCleared | None = None
    ) -> None:
        """Book what happened to gradients since the last look: by the given clearing, or by hand."""
        for cohort in list(cohorts):
            try:
                grads = cohort.look()
                if cohort.unchanged(grads):
                    if clear is not None and cohort.held and cohort.spent and all_zero(grads):
                        self._cleared(cohort, grads, "zero", site, clear)
                    continue
                self._book(cohort, grads, site, clear)
            except Gone:
                self.forget(cohort)

    def _book(
        self, cohort: Cohort, grads: list[Tensor | None], site: Site | None, clear: ev.GradientCleared | None
    ) -> None:
        changes = cohort.changes(grads)
        kinds = {
            change: [i for i, c in enumerate(changes) if c == change] for change in dict.fromkeys(changes)
        }
        params = cohort.params()
        rest = list(kinds.items())[1:]
        parts = [(part, change) for change, at in rest for part in self.cohorts_of([params[i] for i in at])]
        parts.append((cohort, next(iter(kinds))))
        for part, change in parts:
            now = part.look()
            if change == "none":
                self._cleared(part, now, "none", site, clear)
            elif change in ("new", "replaced"):
                if all_zero(now):
                    self._cleared(part, now, "zero", site, clear)
                else:
                    part.spent, part.waiting = False, 0
                    self._assigned(part, site)
            elif change == "changed":
                self._changed(part, now, site, clear)
            part.snapshot(now)

    def _assigned(self, cohort: Cohort, site: Site | None) -> None:
        at = source.hand_written_change(site, before=self.last_event)
        accounts = (cohort.account,)
        self.post(self.same(("assigned", accounts, at), lambda: ev.GradientAssigned(at, accounts)))

    def moved_by_hand(self, cohort: Cohort, site: Site | None) -> None:
        """Parameters without an optimizer have new values: an update written by hand, or something else."""
        # What has no gradient is averaged or copied, whatever the text looks like.
        at = source.hand_written_update(site, before=self.last_backward) if cohort.held else None
        if at is not None and source.cleared_between(self.last_backward, at):
            self.settle([cohort], at)
        nonfinite = at is not None and cohort.params_lost()
        cohort.mark_params()
        accounts = (cohort.account,)
        if at is None:
            # Loaded, averaged or clamped: no use of the gradient.
            self.post(self.same(("moved", accounts), lambda: ev.ParametersMoved(None, accounts)))
            return
        self.post(
            self.same(
                ("hand", accounts, at, nonfinite),
                lambda: ev.OptimizerStepped(at, accounts, None, nonfinite=nonfinite),
            )
        )
        cohort.spent, cohort.waiting = cohort.held, 0

    def _changed(
        self, cohort: Cohort, grads: list[Tensor | None], site: Site | None, clear: ev.GradientCleared | None
    ) -> None:
        if all_zero(grads):
            self._cleared(cohort, grads, "zero", site, clear)
        elif not cohort.changed_by_step or not (cohort.waiting or source.steps_alone(self.last_event, site)):
            at = source.hand_written_change(site, before=self.last_event)
            how = alteration(cohort)
            self.post(
                self.same(
                    ("changed", cohort.account, at, how),
                    lambda: ev.GradientChanged(at, (cohort.account,), how.clipping, how.divided_by),
                )
            )
        cohort.changed_by_step = False

    def _cleared(
        self,
        cohort: Cohort,
        grads: list[Tensor | None],
        to: str,
        site: Site | None,
        clear: ev.GradientCleared | None,
    ) -> None:
        by = "hand" if clear is None else clear.by
        owner = None if clear is None else clear.owner
        at = site
        if clear is None:
            at = source.hand_written_clear(site, before=self.last_event, to=to) or source.hand_written_clear(
                self.last_backward, to=to
            )
        self.cleared([cohort], at, by=by, to=to, owner=owner)
        cohort.snapshot(grads)

    def _wasted(self, cohort: Cohort) -> None:
        """What no step has used is being cleared: has the program moved the parameters by it, as SAM does?"""
        if cohort.param_mark is None and cohort.moved_since_pass():
            accounts = (cohort.account,)
            self.post(self.same(("moved", accounts), lambda: ev.ParametersMoved(None, accounts)))
        cohort.wasteful = True

    def cleared(
        self, cohorts: Sequence[Cohort], site: Site | None, *, by: str, to: str, owner: int | None = None
    ) -> None:
        """Book a clearing."""
        accounts = tuple([c.account for c in cohorts])
        backward = self.last_backward
        for cohort in cohorts:
            if cohort.waiting:
                self._wasted(cohort)
            cohort.spent, cohort.waiting, cohort.changed_by_step = False, 0, False
            cohort.sample = None
        # Sites found on the stack are one object each; a key of addresses is quick to look up.
        key = (id(site), accounts, by, to, owner, id(backward))
        event = self.events.get(key)
        if event is None or event.site is not site:
            unread = source.nothing_looks(backward, site)
            event = ev.GradientCleared(site, accounts, by, to, owner, unread)  # type: ignore[arg-type]
            self.remember(key, event)
        self.post(event)
