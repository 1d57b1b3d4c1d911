"""One gradient's account: what it holds, and the pure transition from one state to the next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from gradledger.ledger import events as ev
from gradledger.ledger.record import dataclass, replace
from gradledger.ledger.site import Site

MOST = 4096
"""Postings of one kind are told apart up to this number; beyond it an account only knows "many"."""


@dataclass(frozen=True, slots=True)
class Posting:
    """What one kind of backward pass put into an account."""

    ran: ev.BackwardRan
    used_by: int | None = None
    """Another optimizer that has already stepped on the same pass."""

    @property
    def site(self) -> Site | None:
        """The line of the backward()."""
        return self.ran.site


@dataclass(frozen=True, slots=True)
class Run:
    """Equal postings in a row."""

    posting: Posting
    count: int = 1


@dataclass(frozen=True, slots=True)
class Lost:
    """Postings that were cleared before any step used them."""

    run: Run
    cleared: ev.GradientCleared
    after_epoch: bool = False
    """The epoch they belong to had ended."""
    served: bool = False
    """The program had moved the parameters by then: they may have served for that."""


@dataclass(frozen=True, slots=True)
class Clip:
    """A clipping, and how many postings it found."""

    event: ev.GradientsClipped | ev.GradientChanged
    found: int
    scaled: bool = False
    """What it clipped still carried a scaler's scale."""


Applied = ev.OptimizerStepped | ev.StepSkipped | ev.ClosureEvaluated


@dataclass(frozen=True, slots=True)
class Account:
    """The state of a gradient; equal states are one object inside a journal."""

    content: Literal["none", "zero", "held", "assigned"] = "none"
    fresh: tuple[Run, ...] = ()
    """Posted since the last step or clearing: what the next step is meant to apply."""
    stale: tuple[Posting, ...] = ()
    """Kinds of postings that a step has already applied and nobody cleared."""
    applied: Applied | None = None
    """What used the stale ones."""
    lost: tuple[Lost, ...] = ()
    """Cleared unused since the last step."""
    clips: tuple[Clip, ...] = ()
    """Clippings since the last step or clearing."""
    unscaled: bool = False
    changed: bool = False
    """Altered or assigned by hand since the last step: the program does its own arithmetic."""
    divided: ev.GradientChanged | None = None
    """The division by a whole number that was made by hand."""
    served: bool = False
    """The program has moved the parameters itself since the last pass, as to climb before a second one."""
    tail: int = 0
    """How many fresh postings were waiting when their epoch ended."""

    @property
    def waiting(self) -> int:
        """How many postings no step has used."""
        return sum(run.count for run in self.fresh)

    @property
    def scaled_by(self) -> int | None:
        """The scaler whose scale is still in what waits here."""
        if self.unscaled:
            return None
        return next(
            (r.posting.ran.scaled_by for r in self.fresh if r.posting.ran.scaled_by is not None), None
        )

    @property
    def missed(self) -> bool:
        """Whether a clearing took away what a step of these parameters could still have used."""
        return any(lost.run.posting.used_by is None for lost in self.lost)

    def postings(self) -> Iterator[Posting]:
        """The waiting postings, kind by kind."""
        return (run.posting for run in self.fresh)


def post(account: Account, event: ev.Event) -> Account:
    """The account after the event."""
    match event:
        case ev.BackwardRan():
            fresh = _joined((*account.fresh, Run(Posting(event))))
            return replace(account, content="held", fresh=fresh, served=False)
        case ev.OptimizerStepped() | ev.StepSkipped():
            return _used(account, event)
        case ev.ClosureEvaluated():
            return _used(account, event) if account.fresh else account
        case ev.GradientCleared():
            gone = _gone(account, event)
            return Account(content=event.to, lost=_latest((*account.lost, *gone)))
        case ev.GradientAssigned():
            return Account(content="assigned", lost=account.lost, changed=True)
        case ev.GradientChanged():
            clips = account.clips
            if event.clipping:
                clips = (*clips[-7:], Clip(event, account.waiting, account.scaled_by is not None))
            return replace(
                account, changed=True, clips=clips, divided=event if event.divided_by else account.divided
            )
        case ev.GradientsClipped() if not event.only_measures:
            clip = Clip(event, account.waiting, account.scaled_by is not None and not event.scaled_bound)
            return replace(account, clips=(*account.clips[-7:], clip))
        case ev.GradientsUnscaled():
            return replace(account, unscaled=True)
        case ev.UsedElsewhere():
            return replace(account, fresh=_marked(account.fresh, event))
        case ev.GradientsReduced():
            return replace(account, fresh=_reduced(account.fresh))
        case ev.EpochEnded():
            return replace(account, tail=account.waiting)
        case ev.ParametersMoved() if account.fresh:
            return replace(account, served=True)
        case _:
            return account


def _used(account: Account, event: Applied) -> Account:
    kinds = dict.fromkeys((*account.stale, *(replace(p, used_by=None) for p in account.postings())))
    content = account.content
    applied = event if account.fresh or content == "assigned" else account.applied or event
    return Account(content=content, stale=tuple(kinds)[-4:], applied=applied)


def _gone(account: Account, event: ev.GradientCleared) -> tuple[Lost, ...]:
    """What a clearing takes: first the rest of an epoch that has ended, then what came after it."""
    gone: list[Lost] = []
    left = account.tail
    for run in account.fresh:
        late = min(run.count, left)
        left -= late
        pieces = (late, True), (run.count - late, False)
        gone += [
            Lost(Run(run.posting, count), event, ended, account.served) for count, ended in pieces if count
        ]
    return tuple(gone)


def _joined(runs: tuple[Run, ...]) -> tuple[Run, ...]:
    joined: list[Run] = []
    for run in runs:
        if joined and joined[-1].posting == run.posting:
            run = Run(run.posting, min(joined.pop().count + run.count, MOST))
        joined.append(run)
    return tuple(joined)


def _latest(lost: tuple[Lost, ...]) -> tuple[Lost, ...]:
    joined: list[Lost] = []
    for item in lost:
        if (
            joined
            and replace(joined[-1], run=item.run) == item
            and joined[-1].run.posting == item.run.posting
        ):
            count = min(joined.pop().run.count + item.run.count, MOST)
            item = replace(item, run=Run(item.run.posting, count))
        joined.append(item)
    return tuple(joined[-8:])


def _marked(fresh: tuple[Run, ...], event: ev.UsedElsewhere) -> tuple[Run, ...]:
    runs: list[Run] = []
    at = 0
    for run in fresh:
        end = at + run.count
        low = min(max(event.first, at), end)
        high = max(min(event.last, end), low)
        used = replace(run.posting, used_by=-1 if event.optimizer is None else event.optimizer)
        pieces = (low - at, run.posting), (high - low, used), (end - high, run.posting)
        runs += [Run(posting, count) for count, posting in pieces if count]
        at = end
    return _joined(tuple(runs))


def _reduced(fresh: tuple[Run, ...]) -> tuple[Run, ...]:
    """What waited to be reduced no longer does; no pass is said to have reduced it."""
    return _joined(
        tuple(
            Run(replace(run.posting, ran=replace(run.posting.ran, reduced=None)), run.count)
            if run.posting.ran.reduced is False
            else run
            for run in fresh
        )
    )
