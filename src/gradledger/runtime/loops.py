"""Plain loops as epochs: noticing that the loop around the batches has turned."""

from __future__ import annotations

from types import FrameType
from typing import Any

from gradledger.ledger import events as ev
from gradledger.ledger.site import Site
from gradledger.runtime import source
from gradledger.runtime.observer import Observer


class _Running:
    """The loop around the batches, in the call that runs it."""

    def __init__(self, site: Site, frame: FrameType, loop: Any) -> None:
        self.site = site
        self.number = 0
        self._frame, self._code = id(frame), frame.f_code
        self._first, self._last = loop.lineno, loop.end_lineno or loop.lineno
        self.place = (frame.f_code, loop.lineno)
        """Where it stands."""

    def goes_on(self, frame: FrameType | None) -> bool:
        """Whether its call is on this stack and stands inside the loop."""
        while frame is not None:
            if id(frame) == self._frame and frame.f_code is self._code:
                return self._first <= (frame.f_lineno or 0) <= self._last
            frame = frame.f_back
        return False


class Loops:
    """Follows the value of the outer loop's variable at lines that accumulate without a data loader."""

    def __init__(self, observer: Observer) -> None:
        self.observer = observer
        self._marks: dict[int, Any] = {}
        self._numbers: dict[Any, int] = {}
        self._inner: _Running | None = None

    def turn(self, site: Site, frame: FrameType | None) -> int | None:
        """The number of the loop around this line's batches; says so first if its outer loop has turned."""
        inner, mark = self._look(site, frame)
        # Lines in one loop have their epochs in common.
        key = site if inner is None else inner.place
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = next(self.observer.loops)
        if inner is not None:
            inner.number = number
        self._inner = inner
        if mark is not None and self._marks.get(number, mark) != mark:
            self.observer.post(
                self.observer.same(("turn", number), lambda: ev.EpochEnded(site, number, exhausted=False))
            )
        self._marks[number] = mark
        return number

    def ended(self, frame: FrameType | None) -> None:
        """Gradients are being cleared: if the batches' loop is over by now, its last ones were left."""
        inner, self._inner = self._inner, None
        if inner is None:
            return
        if inner.goes_on(frame):
            self._inner = inner
            return
        site, number = inner.site, inner.number
        self.observer.post(self.observer.same(("over", number), lambda: ev.EpochEnded(site, number)))

    def _look(self, site: Site, frame: FrameType | None) -> tuple[_Running | None, Any]:
        """The loop around the batches, and what tells one turn of the loop around that from the next."""
        sites = self.observer.sites
        inner: _Running | None = None
        seen = 0
        depth = 0
        frame = sites.frame(frame)
        while frame is not None and depth < 12:
            for loop in source.loops_around(frame.f_code.co_filename, frame.f_lineno or 0):
                seen += 1
                if seen == 1:
                    inner = _Running(site, frame, loop)
                if seen == 2:
                    return inner, self._value(frame, loop)
            depth += 1
            frame = sites.frame(frame.f_back)
        return inner, None

    def _value(self, frame: FrameType, loop: Any) -> Any:
        values = frame.f_locals
        for name in source.loop_names(loop):
            value = values.get(name)
            if isinstance(value, (int, str)):
                return (name, value)
        return None
