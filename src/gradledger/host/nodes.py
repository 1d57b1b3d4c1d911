"""The machines of one torchrun: each has its own answer, and rank 0 of all gives one for them together.

They meet at the store that torchrun's own agent keeps for the processes it starts, so no disk is shared and
no further port is opened. All end with the status of rank 0: an agent whose processes went well would wait at
torchrun's last barrier for one whose processes did not.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from gradledger.audit.answer import Answer
from gradledger.audit.transfer import answer_from_json, answer_to_json
from gradledger.host.ranks import SHORT_TIMEOUT
from gradledger.ledger.record import dataclass

_PAUSE = 0.05

Pressed = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Nodes:
    """This machine's place among several."""

    node: int
    count: int
    host: str
    port: int
    key: str
    connecting: float = 5.0
    """How long to try to reach the store, in seconds."""

    @property
    def reports(self) -> bool:
        """Whether this machine speaks for the others."""
        return self.node == 0

    def deliver(self, answer: Answer, patience: float, pressed: Pressed) -> int | None:
        """Leave this machine's answer; gives the status that rank 0 makes of all, None if it is not heard."""
        try:
            store = self._store()
            store.set(self._name(self.node), answer_to_json(answer))
            # Rank 0 waits so long for the slowest machine, and then has its report to write.
            if self._awaited(store, [self._name("status")], 2 * patience + SHORT_TIMEOUT, pressed):
                return None
            status = int(store.get(self._name("status")))
            store.set(self._name(f"{self.node}/heard"), "")
        except Exception:  # whatever torch and the network have to say: this machine speaks for itself
            return None
        return status

    def gather(self, patience: float, pressed: Pressed) -> tuple[list[Answer], list[str]]:
        """The answers of the other machines, and a note for each that gave none."""
        try:
            store = self._store()
            names = {self._name(node): node for node in range(1, self.count)}
            silent = self._awaited(store, list(names), patience, pressed)
            heard = [answer_from_json(store.get(name).decode()) for name in names if name not in silent]
        except Exception as error:
            reason = " ".join(str(error).split())[:200]
            return [], [f"the other machines were not heard: {type(error).__name__}: {reason}"]
        return heard, [f"machine {names[name]} gave no answer, or not in time" for name in silent]

    def tell(self, status: int, pressed: Pressed) -> None:
        """Let the other machines end with this status; the store goes with this agent, so see them off."""
        try:
            store = self._store()
            store.set(self._name("status"), str(status))
            listening = [node for node in range(1, self.count) if store.check([self._name(node)])]
            heard = [self._name(f"{node}/heard") for node in listening]
            self._awaited(store, heard, SHORT_TIMEOUT, pressed)
        except Exception:
            return  # they wait no longer than their patience

    def _awaited(self, store: Any, names: list[str], patience: float, pressed: Pressed) -> list[str]:
        """Wait for these keys; gives those that did not come."""
        began = time.monotonic()
        missing = names
        while True:
            missing = [name for name in missing if not store.check([name])]
            limit = min(patience, SHORT_TIMEOUT) if pressed() else patience
            if not missing or time.monotonic() - began >= limit:
                return missing
            time.sleep(_PAUSE)

    def _name(self, what: int | str) -> str:
        return f"gradledger/{self.key}/{what}"

    def _store(self) -> Any:
        from gradledger.runtime.meeting import store_at  # it needs torch, which only several machines pay for

        return store_at(self.host, self.port, self.connecting)


def several_nodes(environ: Mapping[str, str]) -> Nodes | None:
    """This machine's place, if torchrun works on several and its agent keeps the store."""
    node, count = environ.get("GROUP_RANK", ""), environ.get("GROUP_WORLD_SIZE", "")
    port, host = environ.get("MASTER_PORT", ""), environ.get("MASTER_ADDR", "")
    if not (node.isdecimal() and count.isdecimal() and port.isdecimal() and host) or int(count) < 2:
        return None
    if environ.get("TORCHELASTIC_USE_AGENT_STORE") != "True":
        return None  # the store would be gone with the program
    run = environ.get("TORCHELASTIC_RUN_ID", "")
    restart = environ.get("TORCHELASTIC_RESTART_COUNT", "0")
    return Nodes(int(node), int(count), host, int(port), f"{run}/{restart}")
