"""The role of the process that was started by hand or by torchrun: it gathers, merges and concludes once."""

from __future__ import annotations

import threading
from collections.abc import Callable

from gradledger.audit.answer import Answer
from gradledger.host.children import Child, Places, forked
from gradledger.host.family import family, labelled, together
from gradledger.host.ground import Ground
from gradledger.host.nodes import Nodes
from gradledger.host.ranks import SHORT_TIMEOUT, Ranks
from gradledger.host.tracebacks import complain
from gradledger.host.vigil import Vigil

Conclude = Callable[[Answer, int], int]
"""Prints the report; makes the exit status of the process from the answer and the script's own status."""


class Reporter:
    """Holds back the end of the process until the report is out."""

    def __init__(
        self,
        vigil: Vigil,
        places: Places,
        ranks: Ranks | None,
        conclude: Conclude,
        nodes: Nodes | None = None,
    ) -> None:
        self._error: BaseException | None = None
        self._vigil = vigil
        self._places = places
        self._ranks = ranks
        self._nodes = nodes
        self._conclude = conclude
        self._ground = Ground()
        self._met = ranks is not None and ranks.announce()
        # A signal may come back here from inside the report, hence one that can be entered again.
        self._lock = threading.RLock()
        self._status: int | None = None

    def leave(self, status: int, *, hurry: bool) -> int:
        """Report because the process is ending in the middle of the program."""
        return self.report(status, hurry=hurry)

    def before_fork(self) -> None:
        """Name the child."""
        self._places.next()

    def forked(self) -> Child:
        """A forked child does not report."""
        return forked(self._vigil, self._places)

    def finish(self, error: BaseException | None) -> None:
        """Take the probes out of the program, which this error has ended."""
        self._error = error
        with self._ground.under():
            self._vigil.answer(error)

    def report(self, status: int, *, hurry: bool, pressed: Callable[[], bool] = lambda: False) -> int:
        """Conclude, the first time; returns the status of the process every time."""
        with self._lock:
            if self._status is None:
                self._status = status
                with self._ground.under():
                    try:
                        self._status = self._reported(status, hurry, pressed)
                    except Exception as trouble:
                        complain(trouble)
                    finally:
                        self._places.mailbox.discard()
            return self._status

    def _reported(self, status: int, hurry: bool, pressed: Callable[[], bool]) -> int:  # noqa: FBT001
        mine = self._vigil.answer(self._error)
        if mine is None:
            return status
        whole = family(mine, self._places.mailbox.collect())
        ranks = self._ranks
        if ranks is None:
            return self._conclude(together([whole]), status)
        whole = labelled(whole, ranks.rank)
        if not ranks.reports:
            # Its own status, whatever it found: torchrun ends all ranks as soon as one fails.
            if self._met:
                ranks.deliver(whole)
            return status
        if not self._met:
            note = f"the other ranks were not heard: {ranks.box.path} cannot be used, or is not ours alone"
            return self._conclude(together([whole], [note]), status)
        patience = min(ranks.timeout, SHORT_TIMEOUT) if hurry else ranks.timeout
        others, notes = ranks.gather(patience, pressed)
        ranks.box.discard()
        return self._across_nodes(together([whole, *others], notes), status, patience, pressed)

    def _across_nodes(self, mine: Answer, status: int, patience: float, pressed: Callable[[], bool]) -> int:
        """Report for this machine, or hand its answer to the one that reports for all."""
        nodes = self._nodes
        if nodes is None:
            return self._conclude(mine, status)
        if not nodes.reports:
            verdict = nodes.deliver(mine, patience, pressed)
            return self._conclude(mine, status) if verdict is None else status or verdict
        others, notes = nodes.gather(patience, pressed)
        concluded = self._conclude(together([mine, *others], notes), status)
        nodes.tell(concluded, pressed)
        return concluded
