"""The processes that torchrun starts on one machine: local rank 0 reports for all of them.

On several machines each one's local rank 0 hands their answer on (`nodes.py`).
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Mapping

from gradledger.audit.answer import Answer
from gradledger.host.mailbox import Mailbox, temporary_root
from gradledger.ledger.record import dataclass

_PAUSE = 0.05
_DEFAULT_TIMEOUT = 30.0
SHORT_TIMEOUT = 5.0
"""How long to wait when the program failed, or torchrun is already ending it (it kills after 30 seconds)."""


@dataclass(frozen=True, slots=True)
class Ranks:
    """This process's place among the local ranks."""

    rank: int
    local: int
    local_size: int
    world_size: int
    box: Mailbox
    timeout: float = _DEFAULT_TIMEOUT

    @property
    def reports(self) -> bool:
        """Whether this process speaks for the others."""
        return self.local == 0

    @property
    def first(self) -> int:
        """The global rank of local rank 0."""
        return self.rank - self.local

    def announce(self) -> bool:
        """Say that this rank takes part, so that its end can be noticed; False if that cannot be said."""
        try:
            if not self.box.open():
                return False
            (self.box.path / f"{self.local}.pid").write_text(str(os.getpid()), encoding="ascii")
        except OSError:
            return False
        return True

    def deliver(self, answer: Answer) -> None:
        """Leave this rank's answer for local rank 0."""
        self.box.deliver(str(self.local), answer)

    def gather(self, patience: float, pressed: Callable[[], bool]) -> tuple[list[Answer], list[str]]:
        """The answers of the other local ranks, and a note for each that gave none."""
        missing = dict.fromkeys(range(1, self.local_size))
        answers: dict[int, Answer] = {}
        began = time.monotonic()
        while missing:
            limit = min(patience, SHORT_TIMEOUT) if pressed() else patience
            waited = time.monotonic() - began
            for local in list(missing):
                gone = self._gone(local, waited)  # before looking for the answer: it is left before the end
                answer = self.box.fetch(str(local))
                if answer is not None:
                    answers[local] = answer
                if answer is not None or gone or waited >= limit:
                    del missing[local]
            if missing:
                time.sleep(_PAUSE)
        silent = [local for local in range(1, self.local_size) if local not in answers]
        notes = [f"rank {self.first + local} gave no answer, or not in time" for local in silent]
        return [answers[local] for local in sorted(answers)], notes

    def _gone(self, local: int, waited: float) -> bool:
        try:
            process = int((self.box.path / f"{local}.pid").read_text(encoding="ascii"))
        except (OSError, ValueError):
            return waited >= SHORT_TIMEOUT  # it never came
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        except OSError:
            return False
        return False


def local_ranks(environ: Mapping[str, str]) -> Ranks | None:
    """This process's place, if torchrun started it beside others."""
    run = environ.get("TORCHELASTIC_RUN_ID")
    names = ("RANK", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "WORLD_SIZE")
    values = [environ.get(name, "") for name in names]
    if run is None or not all(value.isdecimal() for value in values):
        return None
    rank, local, local_size, world_size = map(int, values)
    if world_size < 2 or local >= local_size:
        return None
    restart = environ.get("TORCHELASTIC_RESTART_COUNT", "0")
    key = "\0".join((run, environ.get("MASTER_PORT", ""), str(os.getppid()), restart))
    user = os.getuid() if hasattr(os, "getuid") else 0
    digest = hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()[:24]
    box = Mailbox(temporary_root() / f"gradledger-{user}-{digest}")
    return Ranks(rank, local, local_size, world_size, box, _timeout(environ))


def _timeout(environ: Mapping[str, str]) -> float:
    try:
        timeout = float(environ.get("GRADLEDGER_RANK_TIMEOUT", ""))
    except ValueError:
        return _DEFAULT_TIMEOUT
    return timeout if 0 <= timeout < float("inf") else _DEFAULT_TIMEOUT
