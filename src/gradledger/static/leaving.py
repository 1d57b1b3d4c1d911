"""How a block, a program or an attempt to execute it is left before its end."""

from __future__ import annotations

from enum import Enum

from gradledger.static.values import Value


class Way(Enum):
    """How a block was left before its end."""

    BREAK = 1
    CONTINUE = 2
    RETURN = 3


class OutOfBudget(Exception):
    """The program is too large to be executed to its end."""


class Leave(Exception):
    """The program raised, or called exit()."""

    def __init__(self, raised: Value = None) -> None:
        super().__init__()
        self.raised = raised


class Crash(Leave):
    """torch itself raised: nothing comes after."""
