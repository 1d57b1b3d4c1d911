"""Parameters that receive gradients and belong to no optimizer."""

from __future__ import annotations

from collections.abc import Iterator

from gradledger.ledger.books import Balance, Books
from gradledger.ledger.site import Site


def outside(books: Books) -> Iterator[tuple[int, Balance]]:
    """Trainable accounts that backward passes keep reaching and no step, not even one by hand, ever uses."""
    for number, balance in books.held_by(None):
        reached = balance.trainable and balance.backed >= 2
        if (
            reached
            and not balance.steps
            and not balance.moved
            and books.accounts[number].content != "assigned"
        ):
            yield number, balance


def built_line(books: Books, optimizer: int | None) -> Site | None:
    """Where the optimizer was constructed, if that was seen."""
    book = books.optimizers.get(optimizer)
    return None if book is None or book.built is None else book.built.site
