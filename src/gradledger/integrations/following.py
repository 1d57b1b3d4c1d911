"""A watch whose numbers go to a tracker while the program trains."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Any

from gradledger.audit.answer import Answer
from gradledger.host.session import Session
from gradledger.integrations.scalars import Scalars
from gradledger.integrations.settings import read_settings
from gradledger.ledger.events import Event
from gradledger.runtime.detail.wanted import Wanted
from gradledger.watching import Ledger

Log = Callable[[int, dict[str, float]], None]
Tell = Callable[[Answer], None]


class _Listener:
    """Stands where a recording would be written."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._scalars = Scalars()
        self._failure: str | None = None

    def write(self, event: Event) -> None:
        """Log the numbers of a step; a tracker that fails ends the log, not the program."""
        if self._failure is None:
            try:
                point = self._scalars.take(event)
                if point is not None:
                    self._log(*point)
            except Exception as error:
                self._failure = f"the numbers end early: {type(error).__name__}: {error}"

    def repeat(self, events: Sequence[Event], times: int) -> None:
        """The same events, so many times."""
        for _ in range(times):
            for event in events:
                self.write(event)

    def disown(self) -> None:
        """A forked child logs nothing."""
        self._failure = ""

    def close(self) -> list[str]:
        """What went wrong, if anything did."""
        return [self._failure] if self._failure else []


class _Session(Session):
    """A session with a listener in place of a recorder."""

    def __init__(self, listener: _Listener) -> None:
        self._listener: _Listener | None = listener
        super().__init__(details=Wanted(steps=()))

    def _open(self) -> None:
        listener, self._listener = self._listener, None
        if listener is not None:
            self._recorder: Any = listener
        super()._open()


class Followed(Ledger):
    """A ledger that logs the numbers of every step, and tells its answer once, at the end."""

    def __init__(self, things: Iterable[Any], log: Log, tell: Tell) -> None:
        self._tell: Tell | None = tell
        self._settings = read_settings()
        self._session = _Session(_Listener(log))
        self._begin(tuple(things))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop watching, also after an exception, and tell the answer."""
        super().__exit__(kind, error, trace)
        self.close()

    def close(self) -> Answer:
        """Stop watching, and tell the answer."""
        answer = super().close()
        tell, self._tell = self._tell, None
        if tell is not None:
            tell(self._settings.heard(answer))
        return answer
