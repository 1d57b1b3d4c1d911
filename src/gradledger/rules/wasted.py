"""Entries that were cleared before the step that should have used them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gradledger.ledger.account import Account, Lost
from gradledger.ledger.record import dataclass
from gradledger.ledger.site import Site
from gradledger.ledger.window import Tally, Window


@dataclass(slots=True)
class Waste:
    """What one clearing line threw away before one optimizer's steps."""

    window: Window
    """The commonest window it spoiled."""
    lost: Lost
    most: int
    """How often that window came."""
    tally: Tally
    """All windows it spoiled."""


def wasted(accounts: Iterable[Account], *, tails: bool = False, leaves: bool = False) -> Iterator[Lost]:
    """Lost entries that a step was meant to use.

    Not another optimizer's, an input's, an epoch's tail or what the program has moved the parameters by.
    A leaf that is updated by hand is no input.
    """
    for account in accounts:
        for lost in account.lost:
            posting = lost.run.posting
            if posting.used_by is not None or (posting.ran.wants_input and not leaves) or lost.served:
                continue
            if lost.cleared.site is not None and (tails or not lost.after_epoch):
                yield lost


def robbed(accounts: Iterable[Account], *, leaves: bool = False) -> Iterator[Lost]:
    """Lost entries that a step which finds nothing was meant for.

    Where there are no others, also what an epoch had left over and what an input wanted.
    """
    accounts = tuple(accounts)
    found = tuple(wasted(accounts, leaves=leaves))
    yield from found or wasted(accounts, tails=True, leaves=True)


def gathered(found: Iterable[tuple[Window, Lost, Tally]]) -> dict[Site | None, Waste]:
    """The spoiled windows by the line that cleared; a window counts once for each line."""
    lines: dict[Site | None, Waste] = {}
    seen: set[tuple[int, Site | None]] = set()
    for window, lost, tally in found:
        site = lost.cleared.site
        if (id(window), site) in seen:
            continue
        seen.add((id(window), site))
        waste = lines.setdefault(site, Waste(window, lost, tally.count, Tally(0, tally.first)))
        waste.tally.count += tally.count
        if tally.count > waste.most:
            waste.window, waste.lost, waste.most = window, lost, tally.count
    return lines
