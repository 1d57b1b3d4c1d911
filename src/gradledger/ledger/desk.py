"""Where somebody who moves gradients himself hands in what he did, for whoever keeps the books."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from gradledger.ledger.events import Event


class Clerk(Protocol):
    """Keeps books; numbers accounts, optimizers, scalers and schedulers in its own way."""

    def hand_in(self, event: Event, parameters: Sequence[Any], owner: Any, other: Any) -> None:
        """Book an event that happened to these parameters.

        The owner is the optimizer; the other is the scaler or scheduler the event speaks of. The numbers
        in the event are those of whoever hands it in.
        """


clerks: list[Clerk] = []
"""Those who want to be told; usually nobody, or one running audit."""


def hand_in(event: Event, parameters: Sequence[Any], owner: Any = None, other: Any = None) -> None:
    """Tell every clerk."""
    for clerk in tuple(clerks):
        clerk.hand_in(event, parameters, owner, other)
