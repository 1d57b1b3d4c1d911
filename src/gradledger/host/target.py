"""What to run, and how to audit it."""

from __future__ import annotations

from typing import Literal

from gradledger.ledger.record import dataclass
from gradledger.runtime.detail.wanted import Wanted


@dataclass(frozen=True, slots=True)
class Target:
    """A program as it is named on Python's command line."""

    kind: Literal["script", "module"]
    name: str
    """A path (file, directory or zip file) or, for a module, its dotted name."""
    args: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Options:
    """What the audit does besides watching."""

    fail_fast: bool = False
    """Raise inside the program at the first certain error."""
    save: str | None = None
    """Where the recording goes."""
    details: Wanted | None = None
    """What the recording holds beyond the events of the books."""
