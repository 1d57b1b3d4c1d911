"""The audit of one process: begins when torch is imported, ends with an answer."""

from __future__ import annotations

import gc
from typing import Protocol

from gradledger.audit.answer import Answer, Checked
from gradledger.host import ending
from gradledger.host.arrival import Arrival, when_imported
from gradledger.host.target import Options
from gradledger.host.tracebacks import complain
from gradledger.runtime.detail.wanted import Wanted


class Session(Protocol):
    """The probes in torch, from their installation to the answer.

    It may have two more: `trained`, whether anything was booked, and `when_trained(callback)`, which calls
    back once at the first thing booked; with them a child that never trains costs nothing.
    """

    def start(self) -> None:
        """Install the probes."""

    def finish(self, error: BaseException | None = None) -> Answer:
        """Remove the probes and answer; `error` is what ended the program."""

    def abandon(self) -> None:
        """Remove the probes."""

    def forked(self) -> None:
        """This is a forked child now: forget the parent's books and go on."""


class SessionFactory(Protocol):
    """Makes a session; torch is imported when it is called."""

    def __call__(
        self, *, fail_fast: bool, save: str | None, rank: int | None, details: Wanted | None = None
    ) -> Session:
        """Make a session that is not yet started."""


class Vigil:
    """Holds the session of this process, if torch ever came."""

    def __init__(
        self, options: Options, rank: int | None, factory: SessionFactory | None, *, child: bool = False
    ) -> None:
        self.options = options
        self.factory = factory
        self._rank = rank
        self._child = child
        self._session: Session | None = None
        self._arrival: Arrival | None = None
        self._answer: Answer | None = None
        self._broken = False

    def begin(self) -> None:
        """Wait for torch."""
        self._arrival = when_imported("torch", self._start)

    def answer(self, error: BaseException | None = None) -> Answer | None:
        """What this process found, always the same; None if the audit itself failed."""
        if self._answer is None and not self._broken:
            if self._arrival is not None:
                self._arrival.remove()
            try:
                self._answer = self._finished(error)
            except BaseException as trouble:
                self._fail(trouble)
        return self._answer

    def forked(self) -> None:
        """Go on in a forked child, which has nothing of the parent's to answer."""
        self._answer = None
        self._child = True
        try:
            if self._session is not None:
                self._session.forked()
            self._stand_back(self._session)
        except Exception as trouble:
            self._fail(trouble)

    @property
    def trained(self) -> bool:
        """Whether asking for an answer can be worth it."""
        return self._session is not None and bool(getattr(self._session, "trained", True))

    def _start(self) -> None:
        """Install the probes at the end of `import torch`; whatever fails there must not fail the import."""
        # What we load must not bring the program's garbage collections forward: the first full one after
        # `import torch` is dear, and if it fell into a data loader's workers each of them would pay for it.
        collecting = gc.isenabled()
        gc.disable()
        try:
            factory = _sessions() if self.factory is None else self.factory
            more = {} if self.options.details is None else {"details": self.options.details}
            session = factory(
                fail_fast=self.options.fail_fast, save=self.options.save, rank=self._rank, **more
            )
            self._session = session
            session.start()
            if self._child:
                self._stand_back(session)
        except Exception as trouble:
            self._fail(trouble)
        finally:
            if collecting:
                gc.enable()

    def _stand_back(self, session: Session | None) -> None:
        """Let a child be terminated without ado until it has trained, as most workers never do."""
        ending.unguard()
        when_trained = getattr(session, "when_trained", None)
        if when_trained is not None:
            when_trained(ending.guard)
        elif session is not None:
            ending.guard()

    def _finished(self, error: BaseException | None) -> Answer:
        if self._session is None:
            return Answer("runtime", (), Checked())
        return self._session.finish(error)

    def _fail(self, trouble: BaseException) -> None:
        self._broken = True
        session, self._session = self._session, None
        complain(trouble)
        try:
            if session is not None:
                session.abandon()
        except Exception as more:
            complain(more)


def _sessions() -> SessionFactory:
    # It needs torch, and torch is the program's to import.
    from gradledger.host.session import Session as sessions  # noqa: N813

    return sessions
