"""The state of gradients in words, as the ledger's accounts know it."""

from __future__ import annotations

from collections.abc import Iterable

from gradledger.ledger.account import Account
from gradledger.ledger.books import Balance, Books
from gradledger.ledger.record import replace
from gradledger.story.told import Gradients

NOTHING = Gradients("none", "none")


def gradients(books: Books, accounts: Iterable[int] | None = None) -> Gradients:
    """The state of these accounts together; by default of all parameters that were ever reached."""
    found: dict[tuple[int | None, Gradients], int] = {}
    numbers = books.accounts if accounts is None else accounts
    for number in numbers:
        balance = books.balances[number]
        if balance.trainable and (balance.backed or balance.optimizer is not None) and balance.size:
            lot = balance.optimizer, _state(books.accounts[number], balance)
            found[lot] = found.get(lot, 0) + balance.size
    states = {state for _, state in found}
    if not found:
        return NOTHING
    if len(states) == 1:
        return states.pop()
    owners = {owner for owner, _ in found}
    parts = []
    for owner in sorted(owners, key=lambda number: (number is None, number)):
        own = {state: size for (other, state), size in found.items() if other == owner}
        for state, size in own.items():
            words = [_optimizer(books, owner)] if len(owners) > 1 else []
            words += [_parameters(size)] if len(own) > 1 or owner is None else []
            parts.append(replace(state, text=f"{', '.join(words)}: {state.text}"))
    most = max(state.micro_batches for state in states)
    # Old ones of one group beside new ones of another are no mixture of both.
    stale = any(state.stale and (state.micro_batches or not most) for state in states)
    return Gradients("mixed", "; ".join(part.text for part in parts), most, stale, tuple(parts))


def _optimizer(books: Books, number: int | None) -> str:
    """What it is called; of several of one kind also which."""
    if number is None:
        return "without optimizer"
    built = {other: book.built for other, book in books.optimizers.items()}
    kinds = {other: was.kind for other, was in built.items() if other is not None and was is not None}
    alike = sorted(other for other, kind in kinds.items() if kind == kinds.get(number))
    if number not in kinds:
        return f"optimizer {number}"
    return kinds[number] if len(alike) == 1 else f"{kinds[number]} {alike.index(number) + 1}"


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
