"""Plain loops as epochs: noticing that the loop around the batches has turned."""

from __future__ import annotations

from types import FrameType
from typing import Any

from gradledger.ledger import events as ev
from gradledger.ledger.site import Site
from gradledger.runtime import source
from gradledger.runtime.observer import Observer


class Loops:
    """Follows the value of the outer loop's variable at lines that accumulate without a data loader."""

    def __init__(self, observer: Observer) -> None:
        self.observer = observer
        self._marks: dict[Site, tuple[int, Any]] = {}
        self._numbers: dict[Site, int] = {}
        self._last = 1_000_000

    def turn(self, site: Site, frame: FrameType | None) -> int | None:
        """The number of the loop around this line's batches; says so first if its outer loop has turned."""
        mark = self._mark(frame)
        if mark is None:
            return None
        number = self._numbers.get(site)
        if number is None:
            self._last += 1
            number = self._numbers[site] = self._last
        if site in self._marks and self._marks[site] != (number, mark):
            self.observer.post(
                self.observer.same(("turn", number), lambda: ev.EpochEnded(site, number, exhausted=False))
            )
        self._marks[site] = (number, mark)
        return number

    def _mark(self, frame: FrameType | None) -> Any:
        """What tells one turn of the second loop outwards from the next."""
        sites = self.observer.sites
        seen = 0
        depth = 0
        frame = sites.frame(frame)
        while frame is not None and depth < 12:
            for loop in source.loops_around(frame.f_code.co_filename, frame.f_lineno or 0):
                seen += 1
                if seen == 2:
                    return self._value(frame, loop)
            depth += 1
            frame = sites.frame(frame.f_back)
        return None

    def _value(self, frame: FrameType, loop: Any) -> Any:
        values = frame.f_locals
        for name in source.loop_names(loop):
            value = values.get(name)
            if isinstance(value, (int, str)):
                return (name, value)
        return None
