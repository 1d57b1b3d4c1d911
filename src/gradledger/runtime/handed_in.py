"""What an accumulator of ours hands in: it moves gradients past the probes, and says what it did."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from torch import Tensor

from gradledger.ledger import desk
from gradledger.ledger import events as ev
from gradledger.runtime.cohort import Cohort, Gone
from gradledger.runtime.observer import Observer
from gradledger.runtime.passes import Passes
from gradledger.runtime.patch import Patches
from gradledger.runtime.shield import shielded


class HandedIn:
    """Books an accumulator's events under the observer's own numbers.

    Steps, scalers and schedulers are seen by their own probes, since the accumulator calls torch's.
    """

    def __init__(self, observer: Observer, passes: Passes) -> None:
        self.observer = observer
        self._passes = passes

    def install(self, patches: Patches) -> None:
        """Sit down at the desk."""
        desk.clerks.append(self)
        patches.later(lambda: desk.clerks.remove(self))

    @shielded
    def hand_in(self, event: ev.Event, parameters: Sequence[Any], owner: Any, other: Any) -> None:
        """Book one event."""
        observer = self.observer
        if observer.cruise.allowed:
            # Its windows repeat, but not in an order that the outline of a turn could tell.
            observer.cruise.leave()
            observer.cruise.allowed = False
        number, _ = observer.optimizer(owner)
        cohorts = observer.cohorts_of(parameters)
        match event:
            case ev.BackwardRan():
                self._ran(event, cohorts)
            case ev.GradientChanged() | ev.GradientsClipped() | ev.GradientsReduced():
                self._refreshed(cohorts)
                self._post(replace(event, accounts=tuple([c.account for c in cohorts if c.held])))
            case ev.GradientCleared():
                self._refreshed(cohorts)
                observer.cleared(cohorts, event.site, by="optimizer", to=event.to, owner=number)
            case ev.StepSkipped():
                self._post(ev.StepSkipped(event.site, tuple([c.account for c in cohorts]), number, 0))
            case _:
                pass

    def _post(self, event: ev.Event) -> None:
        self.observer.post(self.observer.same(event, lambda: event))

    def _ran(self, event: ev.BackwardRan, cohorts: Sequence[Cohort]) -> None:
        observer = self.observer
        observer.note_thread()
        posted: list[Cohort] = []
        for cohort in cohorts:
            with suppress(Gone):
                grads: list[Tensor | None] = cohort.look()
                if any(g is not None for g in grads):
                    posted += self._passes.posted(cohort, grads)
        accounts = tuple([c.account for c in posted])
        # Its scale is divided out by the accumulator, without the scaler's own calls.
        self._post(ev.BackwardRan(event.site, accounts, reduced=event.reduced))
        observer.passed(event.site)
        for cohort in posted:
            cohort.waiting += 1
            cohort.thread = observer.here.thread

    def _refreshed(self, cohorts: Sequence[Cohort]) -> None:
        """Take the gradients as they are now."""
        for cohort in cohorts:
            with suppress(Gone):
                cohort.snapshot(cohort.look())
