"""All probes together: put in place at once, taken away at once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from gradledger.ledger import events as ev
from gradledger.runtime import crash, source
from gradledger.runtime.clearing import Clearing
from gradledger.runtime.clipping import Clipping
from gradledger.runtime.cohort import Gone
from gradledger.runtime.handed_in import HandedIn
from gradledger.runtime.keeping import KeptGraphs
from gradledger.runtime.loading import Batches
from gradledger.runtime.naming import Naming
from gradledger.runtime.observer import Observer
from gradledger.runtime.owners import Owners
from gradledger.runtime.passes import Passes
from gradledger.runtime.patch import Patches
from gradledger.runtime.replicas import Replicas
from gradledger.runtime.scaling import Scaling
from gradledger.runtime.scheduling import Scheduling
from gradledger.runtime.sites import Sites
from gradledger.runtime.steady import Steady
from gradledger.runtime.stepping import Steps

if TYPE_CHECKING:
    from gradledger.runtime.detail.closer import Closer
    from gradledger.runtime.detail.telling import Telling


class Probe(Protocol):
    """One part of the watch."""

    def install(self, patches: Patches) -> None:
        """Put the probe in place."""


class Probes:
    """Watches this process's use of torch and posts events."""

    def __init__(
        self,
        post: Callable[[ev.Event], None],
        project: str | None = None,
        steady: Steady | None = None,
        telling: Telling | None = None,
        record: Callable[[ev.Event], None] | None = None,
    ) -> None:
        send = post if telling is None else telling.beside(post)
        self.observer = Observer(send, Sites(project), steady)
        if record is not None:
            Naming(self.observer, record)
        scaling = Scaling(self.observer)
        owners = Owners(self.observer)
        batches = Batches(self.observer)
        replicas = Replicas(self.observer)
        kept = KeptGraphs(self.observer)
        passes = Passes(self.observer, scaling, batches, replicas, owners, kept)
        clipping = Clipping(self.observer, scaling)
        self._parts: tuple[Probe, ...] = (
            passes,
            scaling,
            batches,
            replicas,
            Steps(self.observer, scaling, passes, owners),
            Clearing(self.observer, passes),
            clipping,
            Scheduling(self.observer),
            HandedIn(self.observer, passes),
        )
        self._closer: Closer | None = None
        if telling is not None:
            # Only those who want details pay for loading their probes.
            from gradledger.runtime.detail.closer import Closer

            self._closer = Closer(telling, self.observer, batches, clipping)
            self._parts = (*self._parts, self._closer)
        self._patches = Patches()

    def install(self) -> None:
        """Begin to watch."""
        for part in self._parts:
            part.install(self._patches)

    def remove(self) -> None:
        """Put torch back as it was."""
        self._patches.restore()

    def end(self, error: BaseException | None = None, *, complete: bool = True) -> None:
        """Look a last time, explain the crash if there was one, and say that nothing more will come."""
        with self.observer.lock:
            self._end(error, complete=complete)

    def _end(self, error: BaseException | None, *, complete: bool) -> None:
        observer = self.observer
        observer.flights.land()
        if self._closer is not None:
            self._closer.end()
        with suppress(Gone):
            observer.settle(list(observer.cohorts), observer.latest_event)
        if error is not None:
            for event in crash.explain(error, observer.sites):
                observer.post(event)
        if observer.latest_backward is not None:
            for site, text in source.uncalled_clears(observer.latest_backward.path):
                observer.post(ev.ClearNotCalled(site, text))
        observer.post(ev.RunEnded(None, complete and error is None))
