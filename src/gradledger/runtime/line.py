"""What is remembered of one backward() line, and of its pass that is running now."""

from __future__ import annotations

from collections.abc import Sequence

from gradledger.ledger import events as ev
from gradledger.ledger.site import Site
from gradledger.runtime.cohort import Cohort
from gradledger.runtime.graphs import LossFacts


class Line:
    """A line's past and present; the same kind of pass yields the same event object."""

    __slots__ = (
        "_event",
        "_events",
        "_key",
        "accumulates",
        "averaged_twice",
        "batch",
        "booked",
        "count",
        "fed",
        "keeps",
        "loader",
        "loop",
        "loss",
        "measuring",
        "reached",
        "reduced",
        "repeats",
        "scaled",
        "shares_batch",
        "site",
        "wants_input",
        "windows",
    )

    def __init__(self, site: Site) -> None:
        self.site = site
        self.count = 0
        """Passes so far."""
        self.batch = 0
        """The number of the batch that its last pass ran over."""
        self.reached: Sequence[Cohort] = ()
        """What its last pass added to."""
        self.windows = 0
        self.measuring = False
        """The losses of the window that it fills now are measured."""
        self.accumulates = False
        """Its passes were seen to add to what earlier ones had posted."""
        self.wants_input = False
        self.averaged_twice = False
        self.booked = False
        """The running pass was booked, at least in part."""
        self.scaled: int | None = None
        self.reduced: bool | None = None
        self.repeats: Site | None = None
        self.loader: int | None = None
        self.fed = 0
        """How many new batches a loader has given it."""
        self.shares_batch = False
        self.loop: int | None = None
        self.loss: LossFacts | None = None
        self.keeps = False
        self._events: dict[tuple[object, ...], ev.BackwardRan] = {}
        self._key: tuple[object, ...] | None = None
        self._event: ev.BackwardRan | None = None

    def event(self, accounts: tuple[int, ...]) -> ev.BackwardRan:
        """The event for the running pass."""
        key = (accounts, self.scaled, self.reduced, id(self.repeats), self.loader, self.shares_batch,
               self.loop, self.keeps, self.wants_input, self.averaged_twice)  # fmt: skip
        if key == self._key and self._event is not None:
            return self._event
        event = self._events.get(key)
        if event is None or event.repeats is not self.repeats:
            if len(self._events) > 1000:
                self._events.clear()
            event = self._events[key] = ev.BackwardRan(
                self.site,
                accounts,
                scaled_by=self.scaled,
                reduced=self.reduced,
                repeats=self.repeats,
                wants_input=self.wants_input,
                loader=self.loader,
                shares_batch=self.shares_batch,
                loop=self.loop,
                averaged_twice=self.averaged_twice,
                kept_graph=self.keeps,
            )
        self._key, self._event = key, event
        return event
