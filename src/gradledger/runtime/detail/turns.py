"""The closer look at plain loops: epochs where no loader tells of them."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from gradledger.ledger.details import LoopTurned
from gradledger.ledger.site import Site
from gradledger.runtime import source
from gradledger.runtime.detail.batches import BatchLook
from gradledger.runtime.detail.metric import MetricLook
from gradledger.runtime.detail.telling import Telling
from gradledger.runtime.observer import Observer


class TurnLook:
    """Follows the variable of the loop around the batches, pass by pass."""

    def __init__(self, telling: Telling, observer: Observer, batches: BatchLook, metric: MetricLook) -> None:
        self._telling = telling
        self._observer = observer
        self._batches = batches
        self._metric = metric
        self._mark: Any = None

    def passes(self, site: Site) -> None:
        """A pass is about to run: say so first if it is the first one of an epoch."""
        if self._batches.used:
            return
        mark = self._epoch(sys._getframe(1))
        if mark is not None and self._mark is not None and mark != self._mark:
            self._metric.turned()
            self._telling.tell(LoopTurned(site))
        self._mark = mark

    def _epoch(self, frame: FrameType | None) -> Any:
        """The value of the second loop's variable from the inside, or of a loop that counts epochs."""
        sites = self._observer.sites
        seen = 0
        frame = sites.frame(frame)
        while frame is not None:
            for loop in source.loops_around(frame.f_code.co_filename, frame.f_lineno or 0):
                seen += 1
                for name in source.loop_names(loop):
                    value = frame.f_locals.get(name)
                    if isinstance(value, (int, str)) and (seen == 2 or "epoch" in name.lower()):
                        return name, value
                if seen == 2:
                    return None
            frame = sites.frame(frame.f_back)
        return None
