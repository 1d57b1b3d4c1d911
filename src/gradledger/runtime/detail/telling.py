"""What the closer probes share: where their details go, and which steps are looked at closely."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from gradledger.ledger import events as ev
from gradledger.ledger.details import Detail
from gradledger.runtime.detail.wanted import Wanted

Method = TypeVar("Method", bound=Callable[..., Any])


class Telling:
    """Hands details on, and lets the closer probes hear each event before it is booked.

    So a detail stands in the recording right before the event it belongs to.
    """

    def __init__(self, tell: Callable[[Detail], None], wanted: Wanted) -> None:
        self._tell = tell
        self.wanted = wanted
        self.trouble: Exception | None = None
        """Our own fault, after which no more details are told."""
        self.closely = 1 in wanted.steps
        """Whether shapes and values are wanted now."""
        self.closed = 0
        """How many windows have been closed by a step, applied or skipped."""
        self.ears: list[Callable[[ev.Event], None]] = []
        self.when_changed: list[Callable[[], None]] = []
        self._main: int | None = None

    def tell(self, detail: Detail) -> None:
        """Write a detail down."""
        self._tell(detail)

    def beside(self, post: Callable[[ev.Event], None]) -> Callable[[ev.Event], None]:
        """The way of events into the journal, with us listening."""

        def send(event: ev.Event) -> None:
            if self.trouble is None:
                self._hear(event)
            post(event)
            if self.trouble is None:
                self._count(event)

        return send

    def _hear(self, event: ev.Event) -> None:
        try:
            for ear in self.ears:
                ear(event)
        except Exception as trouble:
            self.fail(trouble)

    def fail(self, trouble: Exception) -> None:
        """Tell no more."""
        self.trouble = trouble
        self._look(False)

    def _count(self, event: ev.Event) -> None:
        if isinstance(event, (ev.OptimizerStepped, ev.StepSkipped)):
            if self._main is None:
                self._main = event.optimizer
            if event.optimizer == self._main:
                self.closed += 1
                # What follows a step still belongs to it, and only the next batch tells where that ends.
                self._look(self.closed in self.wanted.steps or self.closed + 1 in self.wanted.steps)

    def _look(self, closely: bool) -> None:
        if closely != self.closely:
            self.closely = closely
            for changed in self.when_changed:
                changed()


def careful(method: Method) -> Method:
    """Let a closer probe fail without harm: the details end there, audit and program go on."""

    @functools.wraps(method)
    def safe(self: Any, *args: Any, **kwargs: Any) -> Any:
        telling: Telling = self.telling
        if telling.trouble is not None:
            return None
        try:
            return method(self, *args, **kwargs)
        except Exception as trouble:
            telling.fail(trouble)
            return None

    return safe  # type: ignore[return-value]
