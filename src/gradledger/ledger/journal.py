"""The journal: events in, account states and books out.

Training repeats itself, so the journal thinks about each *kind* of entry once: an event it has seen on an
account in a state it has seen is one dictionary look-up. That is what makes auditing cheap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from gradledger.ledger import events as ev
from gradledger.ledger.account import Account, post
from gradledger.ledger.bookkeeping import Bookkeeping
from gradledger.ledger.books import (
    Balance,
    Books,
    ClearTally,
    ClipBook,
    OptimizerBook,
    PassTally,
    SchedulerBook,
)
from gradledger.ledger.folding import fold
from gradledger.ledger.judging import Entry, Hit, Judge, Silent
from gradledger.ledger.kinds import Closing as _Closing
from gradledger.ledger.kinds import Edge as _Edge
from gradledger.ledger.kinds import Kind as _Kind
from gradledger.ledger.record import replace
from gradledger.ledger.window import MeasuredWindow, Tally, Window

__all__ = ["Entry", "Hit", "Journal", "Judge", "Silent"]

KINDS_REMEMBERED = 50_000
"""Beyond this many kinds of entries (a program that never repeats itself) the memory is emptied."""


class Journal(Bookkeeping):
    """Posts events to accounts and keeps the books."""

    def __init__(self, judge: Judge | None = None, record: Callable[[ev.Event], None] | None = None) -> None:
        self.books = Books()
        self.judge: Judge = judge or Silent()
        self.record = record
        self._kinds: dict[int, _Kind] = {}
        self._equal: dict[ev.Event, _Kind] = {}
        self._twins: list[ev.Event] = []
        self._states: dict[Account, Account] = {}
        self._windows: dict[Window, Window] = {}
        self._waiting: set[int] = set()
        self._edges = 0
        self._schedules: dict[int, list[SchedulerBook]] = {}
        self._clips: list[tuple[ev.GradientsClipped, ClipBook]] = []
        self._reached: tuple[int, ...] = ()
        """What the latest pass reached."""
        self._empty = self._one(Account())

    def post(self, event: ev.Event) -> None:
        """Book one event."""
        kind = self._kinds.get(id(event))
        if kind is None:
            kind = self._learn(event)
        if self.record is not None:
            self.record(event)
        kind.count += 1
        kind.handle(kind)

    @contextmanager
    def unrecorded(self) -> Iterator[None]:
        """Book for a while what is written down in another way."""
        record, self.record = self.record, None
        try:
            yield
        finally:
            self.record = record

    def last_closing(self, event: ev.Event) -> _Closing | None:
        """What the latest step of this kind led to."""
        return self._learn(event).last

    def post_all(self, events: Iterable[ev.Event]) -> None:
        """Book events in their order."""
        for event in events:
            self.post(event)

    def _learn(self, event: ev.Event) -> _Kind:
        known = self._kinds.get(id(event))
        if known is not None:
            return known
        if len(self._kinds) + self._edges > KINDS_REMEMBERED:
            self._forget()
        known = self._equal.get(event)
        if known is not None:
            # Equal events under two addresses: both are kept, so that neither address is used again.
            self._kinds[id(event)] = known
            self._twins.append(event)
            return known
        handle = getattr(self, f"_on_{type(event).__name__}", self._on_other)
        kind = _Kind(event, handle)
        # Measurements never repeat: remembering them would only fill the memory.
        if not isinstance(event, (ev.LossMeasured, ev.NormMeasured)):
            self._kinds[id(event)] = kind
            self._equal[event] = kind
        return kind

    def _forget(self) -> None:
        self._kinds.clear()
        self._equal.clear()
        self._twins.clear()
        self._edges = 0
        for book in self.books.optimizers.values():
            fold(book)
        self._windows = {window: window for book in self.books.optimizers.values() for window in book.windows}
        self._states = {state: state for state in self.books.accounts.values()}
        self._empty = self._one(Account())

    def _one(self, state: Account) -> Account:
        return self._states.setdefault(state, state)

    def _move(self, kind: _Kind, number: int) -> Account:
        """Take one account along its edge and return the state it was in."""
        accounts = self.books.accounts
        before = accounts[number]
        edge = kind.edges.get(id(before))
        if edge is None or edge.before is not before:
            after = self._one(post(before, kind.event))
            edge = _Edge(before, after, self.judge.on_entry(Entry(kind.event, before, after)))
            kind.edges[id(before)] = edge
            self._edges += 1
        accounts[number] = edge.after
        for hit in edge.hits:
            hit.hit(self.books.steps + 1, self.books.balances[number])
        return before

    def _move_all(self, kind: _Kind) -> None:
        for number in kind.event.accounts:  # type: ignore[attr-defined]
            self._move(kind, number)

    def _on_other(self, kind: _Kind) -> None:
        if hasattr(kind.event, "accounts"):
            self._move_all(kind)

    # -- accounts ---------------------------------------------------------------------------------------

    def _on_AccountOpened(self, kind: _Kind) -> None:
        event = kind.event
        assert isinstance(event, ev.AccountOpened)
        balance = Balance(
            event.size, event.names, event.optimizer, event.trainable, event.module, event.training
        )
        state = self._empty
        if event.parent is not None:
            parent = self.books.balances[event.parent]
            parent.size -= event.size
            state = self.books.accounts[event.parent]
            balance.fresh, balance.stale = parent.fresh, parent.stale
            balance.inherited = parent.fresh + parent.stale
            balance.passes.extend(parent.passes)
            balance.losses = list(parent.losses)
            balance.backed, balance.steps = parent.backed, parent.steps
            if event.parent in self._waiting:
                self._waiting.add(event.account)
        self.books.accounts[event.account] = state
        self.books.balances[event.account] = balance

    def _on_BackwardRan(self, kind: _Kind) -> None:
        books = self.books
        books.backwards += 1
        tally = kind.tally
        if tally is None:
            assert isinstance(kind.event, ev.BackwardRan)
            tally = kind.tally = books.passes.setdefault(kind.event.site, PassTally(kind.event))
            assert isinstance(tally, PassTally)
            tally.accounts.update(kind.event.accounts)
            if len(tally.together) < 64:
                tally.together.add(kind.event.accounts)
        tally.count += 1  # type: ignore[union-attr]
        number = books.backwards
        self._reached = kind.event.accounts  # type: ignore[attr-defined]
        for account in kind.event.accounts:  # type: ignore[attr-defined]
            balance = books.balances[account]
            balance.posted += 1
            balance.fresh += 1
            balance.backed += 1
            balance.passes.append(number)
            self._move(kind, account)
            self._waiting.add(account)

    def _on_GradientCleared(self, kind: _Kind) -> None:
        event = kind.event
        assert isinstance(event, ev.GradientCleared)
        if kind.tally is None:
            kind.tally = self.books.clears.setdefault(event.site, ClearTally())
            kind.tally.accounts.update(event.accounts)
        tally = kind.tally
        assert isinstance(tally, ClearTally)
        tally.calls += 1
        effective: set[int | None] = set()
        tails: set[tuple[int | None, int]] = set()
        for number in event.accounts:
            before = self._move(kind, number)
            balance = self.books.balances[number]
            if before.tail and any(p.used_by is None and not p.ran.wants_input for p in before.postings()):
                tails.add((balance.optimizer, before.waiting))
            if before.content not in ("none", "zero"):
                effective.update((balance.optimizer, event.owner))
            self._empty_out(number, balance)
        for clip, clipped in self._clips:
            if clipped.pending and any(number in event.accounts for number in clip.accounts):
                # Cleared before any step used what was clipped.
                clipped.wasted += clipped.missed
                clipped.pending = False
        tally.effective += bool(effective)
        for optimizer in effective - {None}:
            self.books.optimizer(optimizer).cleared += 1
        for optimizer, waiting in tails:
            self.books.optimizer(optimizer).lost_tails[event, waiting] += 1

    def _on_GradientAssigned(self, kind: _Kind) -> None:
        self._move_all(kind)
        for number in kind.event.accounts:  # type: ignore[attr-defined]
            self._empty_out(number, self.books.balances[number])

    def _empty_out(self, number: int, balance: Balance) -> None:
        balance.cleared_unused += balance.fresh
        balance.cleared_used += balance.stale
        balance.fresh = balance.stale = 0
        balance.passes.clear()
        balance.losses.clear()
        self._waiting.discard(number)

    def _use_up(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            balance = self.books.balances[number]
            balance.stale += balance.fresh
            balance.fresh = 0
            balance.passes.clear()
            balance.losses.clear()
            self._waiting.discard(number)

    # -- steps ------------------------------------------------------------------------------------------

    def _on_OptimizerStepped(self, kind: _Kind) -> None:
        event = kind.event
        assert isinstance(event, ev.OptimizerStepped)
        books = self.books
        book = books.optimizer(event.optimizer)
        books.steps += 1
        book.steps += 1
        states = books.accounts
        key = tuple([id(states[number]) for number in event.accounts])
        closing = kind.closings.get(key)
        if closing is None:
            closing = self._close(kind, event)
            kind.closings[key] = closing
            self._edges += 1
        kind.last = closing
        closing.tally.hit(book.steps)
        self._measure(book, closing.window, event.accounts)
        for hit in closing.hits:
            hit.hit(book.steps, self._stalest(event.accounts))
        if self._waiting:
            self._tell_others(event)
        for number, after in zip(event.accounts, closing.afters, strict=True):
            if states[number].content in ("held", "assigned"):
                books.balances[number].steps += 1
            states[number] = after
        self._use_up(event.accounts)
        self._after_step(event, closing.window)
        if closing.tally.count <= 4:
            self.judge.on_change(books)
        book.sequence.add(closing.window)

    def _close(self, kind: _Kind, event: ev.OptimizerStepped) -> _Closing:
        befores = tuple(self.books.accounts[number] for number in event.accounts)
        window = Window(event, tuple(dict.fromkeys(befores)))
        book = self.books.optimizer(event.optimizer)
        same = self._windows.setdefault(window, window)
        tally = book.windows.setdefault(same, Tally())
        afters = tuple(self._one(post(before, event)) for before in befores)
        return _Closing(same, tally, self.judge.on_window(same), befores, afters)

    def _stalest(self, numbers: Iterable[int]) -> Balance | None:
        balances = (self.books.balances[number] for number in numbers)
        return max(balances, key=lambda balance: (balance.stale, balance.fresh), default=None)

    def _measure(self, book: OptimizerBook, window: Window, numbers: Iterable[int]) -> None:
        for number in numbers:
            balance = self.books.balances[number]
            if balance.losses and len(balance.losses) == balance.fresh:
                book.measured.append(MeasuredWindow(book.steps, window, tuple(balance.losses)))
                return

    def _tell_others(self, event: ev.OptimizerStepped) -> None:
        """Note, in other accounts, that their waiting passes have now been used by this optimizer."""
        others = self._waiting.difference(event.accounts)
        if not others:
            return
        used: set[int] = set()
        for number in event.accounts:
            used.update(self.books.balances[number].passes)
        for number in sorted(others):
            balance = self.books.balances[number]
            offset = balance.fresh - len(balance.passes)
            at = [offset + index for index, pass_ in enumerate(balance.passes) if pass_ in used]
            for first, last in _stretches(at):
                told = ev.UsedElsewhere(event.site, (number,), event.optimizer, first, last)
                self._move(self._equal.get(told) or self._learn(told), number)

    def _after_step(self, event: ev.OptimizerStepped, window: Window) -> None:
        by_hand = event.optimizer is None or any(account.changed for account in window.accounts)
        for schedule in () if event.optimizer is None else self._schedules.get(event.optimizer, ()):
            schedule.between_steps[schedule.since_step] += 1
            schedule.since_step = 0
        for clip, book in self._clips:
            if not book.pending:
                continue
            if any(number in event.accounts for number in clip.accounts):
                if book.spent and book.passes == self.books.backwards:
                    # Applied once more as they are: the clip had its effect on that.
                    book.idle, book.after_step = book.idle - 1, book.after_step - 1
                book.used += 1
                book.pending = False
            elif not by_hand:
                book.straight += not book.missed and 0 < book.passes == self.books.backwards
                book.missed = True
                book.others[event] = book.others.get(event, 0) + 1

    def _on_StepSkipped(self, kind: _Kind) -> None:
        event = kind.event
        assert isinstance(event, ev.StepSkipped)
        self.books.optimizer(event.optimizer).skipped += 1
        self._move_all(kind)
        self._use_up(event.accounts)
        for _, book in self._clips:
            book.pending = False

    def _on_ClosureEvaluated(self, kind: _Kind) -> None:
        self._move_all(kind)
        self._use_up(kind.event.accounts)  # type: ignore[attr-defined]

    # -- everything around a step -----------------------------------------------------------------------

    def _on_GradientsClipped(self, kind: _Kind) -> None:
        event = kind.event
        assert isinstance(event, ev.GradientsClipped)
        befores = [self._move(kind, number) for number in event.accounts]
        if event.only_measures:
            return
        book = kind.tally
        if book is None:
            if event not in self.books.clips:
                self._clips.append((event, self.books.clips.setdefault(event, ClipBook())))
            book = kind.tally = self.books.clips[event]
        assert isinstance(book, ClipBook)
        if book.pending and book.missed:
            book.wasted += 1
        book.calls += 1
        book.spent = False
        if not any(before.fresh or before.changed or before.missed for before in befores):
            book.spent = any(before.stale for before in befores)
            book.idle += 1
            book.after_step += book.spent
        book.astray += bool(self._reached) and not any(n in self._reached for n in event.accounts)
        book.pending, book.missed, book.passes = True, False, self.books.backwards

    def _on_EpochEnded(self, kind: _Kind) -> None:
        event = kind.event
        assert isinstance(event, ev.EpochEnded)
        accounts = self.books.accounts
        touched = tuple(
            number
            for number in sorted(self._waiting)
            if any(event.source in (p.ran.loader, p.ran.loop) for p in accounts[number].postings())
        )
        if touched:
            ended = replace(event, accounts=touched)
            kind = self._equal.get(ended) or self._learn(ended)
            for number in touched:
                self._move(kind, number)


def _stretches(numbers: list[int]) -> list[tuple[int, int]]:
    """Rising numbers as stretches without a gap, each from its first to the one after its last."""
    stretches: list[tuple[int, int]] = []
    for number in numbers:
        if stretches and stretches[-1][1] == number:
            stretches[-1] = (stretches[-1][0], number + 1)
        else:
            stretches.append((number, number + 1))
    return stretches
