"""Numbers over a whole run in bounded memory."""

from __future__ import annotations

from gradledger.story.told import Curve

MOST = 4096


class Thinning:
    """Keeps every number at first, then every second, every fourth and so on."""

    def __init__(self) -> None:
        self._at: list[int] = []
        self._values: list[float] = []
        self._stride = 1
        self._count = 0

    def add(self, at: int, value: float) -> None:
        """One more."""
        if self._count % self._stride == 0:
            self._at.append(at)
            self._values.append(value)
            if len(self._at) > MOST:
                self._stride *= 2
                del self._at[1::2], self._values[1::2]
        self._count += 1

    def curve(self) -> Curve:
        """What was kept."""
        return Curve(tuple(self._at), tuple(self._values))
