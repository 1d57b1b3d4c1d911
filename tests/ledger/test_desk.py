from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from gradledger.ledger import desk
from gradledger.ledger.events import Event, RunEnded

EVENT = RunEnded(None)


class Clerk:
    """Notes what it is told, and goes home after the first time."""

    def __init__(self) -> None:
        self.told: list[tuple[Event, Sequence[Any], Any, Any]] = []

    def hand_in(self, event: Event, parameters: Sequence[Any], owner: Any, other: Any) -> None:
        self.told.append((event, parameters, owner, other))
        desk.clerks.remove(self)


def test_every_clerk_is_told_even_if_one_leaves_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    clerks = [Clerk(), Clerk()]
    monkeypatch.setattr(desk, "clerks", list(clerks))
    desk.hand_in(EVENT, ["weight"], owner="optimizer", other="scaler")
    desk.hand_in(EVENT, [])  # nobody is there any more
    assert [clerk.told for clerk in clerks] == [[(EVENT, ["weight"], "optimizer", "scaler")]] * 2


def test_who_says_no_owner_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    clerk = Clerk()
    monkeypatch.setattr(desk, "clerks", [clerk])
    desk.hand_in(EVENT, ["weight"])
    assert clerk.told == [(EVENT, ["weight"], None, None)]
