"""The state of an account in one letter, the way it is drawn."""

from __future__ import annotations

from collections.abc import Iterable

from gradledger.ledger.account import Account

NAMES = {
    "N": "none",
    "Z": "zero",
    "F": "fresh",
    "A": "accumulated",
    "S": "stale",
    "L": "left over",
    "U": "spent",
    "H": "set by hand",
}
"""Every letter and the word for it."""

RANK = "NZUHFAS"
"""Of several states inside one micro-batch the one furthest to the right is the one to show."""


def letter(account: Account) -> str:
    """Which state this is; fresh entries on top of applied ones make the whole gradient stale."""
    if account.content in ("none", "zero"):
        return "N" if account.content == "none" else "Z"
    if account.fresh:
        if account.stale:
            return "S"
        return "F" if account.waiting == 1 else "A"
    return "U" if account.stale or account.applied else "H"


def gravest(accounts: Iterable[Account]) -> str:
    """The state that matters most among several accounts."""
    return max(map(letter, accounts), key=RANK.index, default="N")
