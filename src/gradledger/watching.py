"""`gradledger.watch`: the audit as a library."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from types import TracebackType
from typing import Any

from gradledger.audit.answer import Answer
from gradledger.host.session import Session
from gradledger.ledger.account import Account
from gradledger.ledger.record import dataclass, replace
from gradledger.ledger.site import Site
from gradledger.report.forms import renderer
from gradledger.report.inline import inline
from gradledger.report.style import facts_of, working_directory
from gradledger.rules.finding import Finding
from gradledger.rules.wording import times
from gradledger.runtime.trainables import parameters_of


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
        self._begin(tuple(things))

    def _begin(self, things: tuple[Any, ...]) -> None:
        """Start, and take up what is there already; the lines that made it are not known."""
        observer = self._session.probes.observer
        self._session.start()
        with observer.lock:
            for thing in things:
                if hasattr(thing, "param_groups"):
                    observer.optimizer(thing, None)
            for thing in things:
                parameters = parameters_of(thing)
                if parameters is not None:
                    observer.open(parameters, None)

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

    def so_far(self) -> Answer:
        """The answer as it stands; after the end, the whole."""
        return self._session.so_far()

    def report(self) -> str:
        """The same to read, with the source lines, as `gradledger run` prints it."""
        facts = replace(facts_of(sys.stdout, os.environ, working_directory()), colour=False)
        return renderer("text")(self.so_far(), facts).rstrip("\n")

    def balance(self, parameter: Any) -> BalanceSheet:
        """Which micro-batches, from which lines, are in this parameter's `.grad` now."""
        observer = self._session.probes.observer
        with observer.lock:
            books = self._session.books
            cohort = observer.cohort_of(parameter)
            if cohort is None:
                return BalanceSheet("none" if parameter.grad is None else "assigned", ())
            observer.settle([cohort], observer.sites.find(1))
            cohort = observer.cohort_of(parameter)
            assert cohort is not None
            return _sheet(books.accounts[cohort.account], books.balances[cohort.account].stale)

    def __str__(self) -> str:
        return self.report()

    def _repr_html_(self) -> str:
        """The report in a notebook."""
        return inline(self.so_far(), working_directory())

    def __repr__(self) -> str:
        books = self._session.books
        seen = (
            times(books.backwards, "backward pass"),
            times(books.steps, "step"),
            times(len(self.findings), "finding"),
        )
        return f"<gradledger: {', '.join(seen)}>"


def _sheet(account: Account, stale: int) -> BalanceSheet:
    used = tuple(
        Entry(posting.site, stale if index == len(account.stale) - 1 else 0, used=True)
        for index, posting in enumerate(account.stale)
    )
    waiting: dict[Site | None, int] = {}
    for run in account.fresh:
        waiting[run.posting.site] = waiting.get(run.posting.site, 0) + run.count
    fresh = tuple(Entry(site, count, used=False) for site, count in waiting.items())
    return BalanceSheet(account.content, (*(e for e in used if e.micro_batches), *fresh))


def watch(*things: Any, fail_fast: bool = False, save: str | None = None) -> Ledger:
    """Audit what happens from here on in this process; given models and optimizers are known at once."""
    return Ledger(things, fail_fast=fail_fast, save=save)
