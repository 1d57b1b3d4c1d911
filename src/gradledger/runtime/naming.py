"""The names of parameters, for those who keep a recording: told once, when a first step has been made."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from gradledger.ledger import events as ev
from gradledger.ledger.details import Detail, ParametersNamed
from gradledger.runtime.observer import Observer
from gradledger.runtime.owners import outermost_models

MOST = 512
"""Names that are written down of one account."""
MOST_SCANS = 8


class Naming:
    """Asks the living models what they call the parameters of each account."""

    def __init__(self, observer: Observer, tell: Callable[[Detail], None]) -> None:
        self._observer = observer
        self._tell = tell
        self._due = False
        self._scans = 0
        self._told: dict[int, int] = {}
        """The accounts whose names are told, and of how many parameters they were."""
        observer.send = self._beside(observer.send)

    def _beside(self, post: Callable[[ev.Event], None]) -> Callable[[ev.Event], None]:
        def send(event: ev.Event) -> None:
            post(event)
            if self._due and type(event) is ev.OptimizerStepped:
                self._due = False
                self._name()
            elif type(event) is ev.AccountOpened:
                self._due = self._scans < MOST_SCANS

        return send

    def _name(self) -> None:
        self._scans += 1
        with suppress(Exception):  # a model may not want to be asked; then its parameters have no names
            self._ask()

    def _ask(self) -> None:
        names: dict[int, str] = {}
        for model in outermost_models():
            for name, parameter in model.named_parameters():
                names.setdefault(id(parameter), name)
        for cohort in self._observer.cohorts:
            if self._told.get(cohort.account) != len(cohort.refs):
                self._told[cohort.account] = len(cohort.refs)
                known = tuple(names[id(ref())] for ref in cohort.refs if id(ref()) in names)
                if known:
                    self._tell(ParametersNamed(None, cohort.account, known[:MOST]))
