"""What one attempt knows about the parameters of one account."""

from __future__ import annotations

from typing import Literal

from gradledger.ledger.record import dataclass
from gradledger.static.values import NOTHING, Accounts


@dataclass(slots=True)
class Box:
    """What is known about one account."""

    name: str
    opaque: bool = False
    """The parameters are not seen being made."""
    data: bool = False
    """A leaf that may be data."""
    filled: bool = False
    """A pass has reached it before."""
    sure: bool = False
    """A pass through its model certainly uses it."""
    owned: bool = False
    """It was said which model the parameters belong to."""
    content: Literal["none", "zero", "held", "unknown"] = "none"
    held_by: int | None = None
    handed_out: bool = False
    """Something unseen was given the model: it may have frozen it."""
    overwritten: bool = False
    """The weights of another model were put there."""
    by_hand: bool = False
    """The program assigned a gradient of its own making."""
    copied: Accounts = NOTHING
    """The accounts of the model that this one is a copy of."""
