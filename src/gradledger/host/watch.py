"""`gradledger.watch`: the audit as a library."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from torch import Tensor, nn

from gradledger.audit.answer import Answer
from gradledger.host.session import Session
from gradledger.ledger.account import Account
from gradledger.ledger.site import Site
from gradledger.rules.finding import Finding


@dataclass(frozen=True, slots=True)
class Entry:
    """Micro-batches of one backward() line inside a gradient."""

    site: Site | None
    micro_batches: int
    used: bool
    """A step has already applied them."""


@dataclass(frozen=True, slots=True)
class BalanceSheet:
    """What one parameter's `.grad` holds now."""

    state: str
    """"none", "zero", "held" or "assigned"."""
    entries: tuple[Entry, ...]

    @property
    def fresh(self) -> int:
        """Micro-batches that no step has applied yet."""
        return sum(entry.micro_batches for entry in self.entries if not entry.used)

    @property
    def stale(self) -> int:
        """Micro-batches that a step has already applied."""
        return sum(entry.micro_batches for entry in self.entries if entry.used)


class Ledger:
    """A running audit; a context manager, and usable without `with` until `close()`."""

    def __init__(self, things: Iterable[Any], *, fail_fast: bool = False, save: str | None = None) -> None:
        self._session = Session(fail_fast=fail_fast, save=save)
        self._things = tuple(things)
        self._only: set[int] | None = None
        self._begin()

    def _begin(self) -> None:
        observer = self._session.probes.observer
        self._session.start()
        site = observer.sites.at(frame) if (frame := observer.sites.frame(sys._getframe(2))) else None
        for thing in self._things:
            if hasattr(thing, "param_groups"):
                observer.optimizer(thing, site)
        for thing in self._things:
            if isinstance(thing, nn.Module):
                observer.open([p for p in thing.parameters() if p.requires_grad], site)

    def __enter__(self) -> Ledger:
        """Watching began with the construction."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop watching, also after an exception."""
        self._session.finish(error)

    def close(self) -> Answer:
        """Stop watching and give the whole answer."""
        return self._session.finish()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What has been found so far; after the end, everything."""
        return self._session.findings

    def balance(self, parameter: Tensor) -> BalanceSheet:
        """Which micro-batches, from which lines, are in this parameter's `.grad` now."""
        observer = self._session.probes.observer
        cohort = observer.cohort_of(parameter)
        if cohort is None:
            return BalanceSheet("none" if parameter.grad is None else "assigned", ())
        observer.settle([cohort], observer.sites.find(1))
        cohort = observer.cohort_of(parameter)
        assert cohort is not None
        books = self._session.journal.books
        return _sheet(books.accounts[cohort.account], books.balances[cohort.account].stale)

    def __repr__(self) -> str:
        """Say how much was seen."""
        books = self._session.journal.books
        return f"<gradledger: {books.backwards} backward passes, {books.steps} steps, {len(self.findings)} findings>"


def _sheet(account: Account, stale: int) -> BalanceSheet:
    used = tuple(
        Entry(posting.site, stale if index == len(account.stale) - 1 else 0, used=True)
        for index, posting in enumerate(account.stale)
    )
    fresh = tuple(Entry(run.posting.site, run.count, used=False) for run in account.fresh)
    return BalanceSheet(account.content, (*(e for e in used if e.micro_batches), *fresh))


def watch(*things: Any, fail_fast: bool = False, save: str | None = None) -> Ledger:
    """Audit what happens from here on: everything in this process, the given models and optimizers from the start."""
    return Ledger(things, fail_fast=fail_fast, save=save)
