"""Child processes: each audits itself and leaves its answer in the parent's mailbox."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

from gradledger.host.family import labelled, trained
from gradledger.host.mailbox import Mailbox
from gradledger.host.vigil import Vigil


class Places:
    """Names the children of one process in the order of their start."""

    def __init__(self, mailbox: Mailbox, parent: str = "") -> None:
        self.mailbox = mailbox
        self._parent = parent
        self._numbers = itertools.count()
        self.latest = ""

    def next(self) -> str:
        """The name for the child that is about to start."""
        self.mailbox.open()
        self.latest = f"{self._parent}{next(self._numbers):06d}"
        return self.latest

    def below(self) -> Places:
        """The places of the latest child's own children."""
        return Places(self.mailbox, f"{self.latest}-")


class Child:
    """The role of a process that another audited process started."""

    def __init__(self, vigil: Vigil, places: Places, name: str, inherited: str | None) -> None:
        self.vigil = vigil
        self.places = places
        self.error: BaseException | None = None
        self._name = name
        self._inherited = inherited
        self._left = False

    def leave(self, status: int, *, hurry: bool) -> int:
        """Deliver the answer, if there is something in it."""
        if not self._left:
            self._left = True
            answer = self.vigil.answer(self.error) if self.vigil.trained else None
            if answer is not None and trained(answer):
                rank = os.environ.get("RANK", "")
                if rank != self._inherited and rank.isdecimal():  # the parent's rank would say nothing
                    answer = labelled(answer, int(rank))
                self.places.mailbox.deliver(self._name, answer)
        return status

    def before_fork(self) -> None:
        """Name the child."""
        self.places.next()

    def forked(self) -> Child:
        """The same one generation below."""
        return forked(self.vigil, self.places)


def forked(vigil: Vigil, places: Places) -> Child:
    """The role of the child that was just forked."""
    vigil.forked()
    return Child(vigil, places.below(), places.latest, os.environ.get("RANK", ""))


def saved_as(save: str, whose: str) -> str:
    """The recording's name with its process in it: `run.jsonl` becomes `run.rank1.jsonl`."""
    path = Path(save)
    return str(path.with_name(f"{path.stem}.{whose}{path.suffix}"))
