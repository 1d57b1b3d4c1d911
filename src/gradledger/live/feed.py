"""What the follower has to say, handed from its thread to whoever waits in the server's loop."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Literal

from gradledger.ledger.record import dataclass
from gradledger.report.page.build import Parts

State = Literal["waiting", "running", "ended", "broken"]


@dataclass(frozen=True, slots=True)
class News:
    """One state of the page."""

    revision: int
    state: State
    parts: Parts

    def data(self) -> bytes:
        """What a page that is already open needs, as JSON."""
        now = self.parts
        words = {
            "revision": self.revision,
            "name": now.name,
            "title": now.title,
            "verdict": now.verdict,
            "findings": now.findings,
            "notes": now.notes,
            "summary": now.summary,
        }
        return f'{json.dumps(words)[:-1]},"data":{now.data}}}'.encode()


class Feed:
    """The latest news; made only if somebody wants them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._news: News | None = None
        self._heard = time.monotonic()
        self._waiting: set[Callable[[], None]] = set()
        self._listeners = 0
        self._asked = False

    @property
    def wanted(self) -> bool:
        """Whether anybody is looking at the page or has just asked for it."""
        return self._listeners > 0 or self._asked

    @property
    def quiet(self) -> float:
        """Seconds since the recording last grew."""
        return time.monotonic() - self._heard

    def heard(self) -> None:
        """The recording has grown."""
        self._heard = time.monotonic()

    def publish(self, news: News) -> None:
        """Tell everybody; called by the follower."""
        with self._lock:
            self._news = news
            self._asked = False
            waiting, self._waiting = self._waiting, set()
        for wake in waiting:
            wake()

    def confirm(self) -> None:
        """What was published last still holds."""
        if self._asked and self._news is not None:
            self.publish(self._news)

    async def latest(self) -> News:
        """The news now; made for this if nobody has been listening."""
        while self._news is None or not self._listeners:
            if await self._published(3.0, asking=True):
                break
        assert self._news is not None
        return self._news

    async def after(self, revision: int, seconds: float) -> News | None:
        """News with another number than this one, or None if there are none for so long."""
        await self._published(seconds, revision)
        return None if self._news is None or self._news.revision == revision else self._news

    async def _published(self, seconds: float, revision: int | None = None, *, asking: bool = False) -> bool:
        """Wait until something is published, or is there with another number; False if it takes too long."""
        loop = asyncio.get_running_loop()
        came = asyncio.Event()

        def wake() -> None:
            with suppress(RuntimeError):  # the server has ended meanwhile
                loop.call_soon_threadsafe(came.set)

        with self._lock:
            if revision is not None and self._news is not None and self._news.revision != revision:
                return True
            self._waiting.add(wake)
            self._asked |= asking
        try:
            await asyncio.wait_for(came.wait(), seconds)
        except asyncio.TimeoutError:
            return False
        finally:
            with self._lock:
                self._waiting.discard(wake)
        return True

    def listening(self, change: int) -> None:
        """Somebody begins (1) or stops (-1) to listen."""
        with self._lock:
            self._listeners += change
