"""A watch whose every event can be read afterwards."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import gradledger
from gradledger.ledger import events as ev
from gradledger.ledger.books import Books
from gradledger.ledger.journal import Journal
from gradledger.ledger.recording import read

Kind = TypeVar("Kind", bound=ev.Event)


class Watched:
    """The ledger while it watches; the events and the books once it is closed."""

    def __init__(self, ledger: Any, recording: Path) -> None:
        self.ledger = ledger
        self._recording = recording
        self._events: list[ev.Event] = []

    def close(self) -> None:
        self.ledger.close()
        self._events = list(read(self._recording))

    def balance(self, parameter: Any) -> Any:
        return self.ledger.balance(parameter)

    def count(self, *parameters: Any) -> list[tuple[int, int]]:
        """Fresh and stale micro-batches inside each."""
        sheets = map(self.ledger.balance, parameters)
        return [(sheet.fresh, sheet.stale) for sheet in sheets]

    def events(self, kind: type[Kind]) -> list[Kind]:
        return [event for event in self._events if isinstance(event, kind)]

    def lines(self, kind: type[Kind]) -> list[int]:
        """Where events of a kind happened."""
        return [event.site.line for event in self.events(kind) if event.site is not None]

    @property
    def books(self) -> Books:
        journal = Journal()
        journal.post_all(self._events)
        return journal.books

    @property
    def certain(self) -> list[tuple[str, int]]:
        findings = [f for f in self.ledger.findings if f.certainty.value == "certain"]
        return [(f.code, f.site.line) for f in findings]

    @property
    def codes(self) -> set[str]:
        return {code for code, _ in self.certain}


@contextmanager
def watched(*things: Any) -> Iterator[Watched]:
    """Watch; the audit itself must not have failed at the end."""
    with tempfile.TemporaryDirectory() as folder:
        recording = Path(folder, "recording.jsonl")
        watch = Watched(gradledger.watch(*things, save=str(recording)), recording)
        try:
            yield watch
        finally:
            watch.close()
        assert watch.ledger.close().notes == ()
