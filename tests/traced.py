"""Running a program in this process with the closer probes in place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from gradledger.host.session import Session
from gradledger.ledger.events import Event
from gradledger.ledger.recording import read
from gradledger.runtime.detail.wanted import Wanted

Kind = TypeVar("Kind", bound=Event)


def traced(program: Callable[[], Any], path: Path, wanted: Wanted | None = None) -> tuple[Any, list[Event]]:
    """What the program returns, and what was recorded of it."""
    session = Session(save=str(path), details=wanted or Wanted())
    session.start()
    try:
        result = program()
    finally:
        answer = session.finish()
    assert answer.notes == ()
    return result, list(read(path))


def only(events: list[Event], kind: type[Kind]) -> list[Kind]:
    """The events of one kind."""
    return [event for event in events if isinstance(event, kind)]
