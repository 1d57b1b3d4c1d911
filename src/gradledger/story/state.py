"""The state of gradients in words, as the ledger's accounts know it."""

from __future__ import annotations

from collections.abc import Iterable

from gradledger.ledger.account import Account
from gradledger.ledger.books import Balance, Books
from gradledger.story.told import Gradients

NOTHING = Gradients("none", "none")


def gradients(books: Books, accounts: Iterable[int] | None = None) -> Gradients:
    """The state of these accounts together; by default of all parameters that were ever reached."""
    found: dict[Gradients, int] = {}
    numbers = books.accounts if accounts is None else accounts
    for number in numbers:
        balance = books.balances[number]
        if balance.trainable and (balance.backed or balance.optimizer is not None) and balance.size:
            state = _state(books.accounts[number], balance)
            found[state] = found.get(state, 0) + balance.size
    if not found:
        return NOTHING
    if len(found) == 1:
        return next(iter(found))
    parts = [f"{state.text} ({_parameters(size)})" for state, size in found.items()]
    most = max(state.micro_batches for state in found)
    # Old ones of one group beside new ones of another are no mixture of both.
    stale = any(state.stale and (state.micro_batches or not most) for state in found)
    return Gradients("mixed", "; ".join(parts), most, stale)


def _state(account: Account, balance: Balance) -> Gradients:
    waiting = account.waiting
    if account.content in ("none", "zero") and not waiting:
        return Gradients(account.content, account.content)
    if not waiting:
        if account.content == "assigned":
            return Gradients("by hand", "set by hand")
        return Gradients("stale", "stale (already applied)", 0, stale=True)
    passes = list(balance.passes)[-waiting:]
    if waiting == 1:
        text = f"fresh from micro-batch {passes[-1]}" if passes else "fresh from one micro-batch"
    else:
        text = f"accumulated over {waiting} micro-batches"
        if len(passes) == waiting and passes[-1] - passes[0] == waiting - 1:
            text += f" ({passes[0]} to {passes[-1]})"
    if account.scaled_by is not None:
        text += ", times the scale"
    if account.clips:
        text += ", clipped"
    stale = bool(account.stale)
    if stale:
        text += ", on top of stale ones"
    return Gradients("fresh" if waiting == 1 else "accumulated", text, waiting, stale)


def _parameters(count: int) -> str:
    return "1 parameter" if count == 1 else f"{count} parameters"
