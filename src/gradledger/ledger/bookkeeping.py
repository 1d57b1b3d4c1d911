"""Events that move no account: what the books note of optimizers, scalers, schedules and facts."""

from __future__ import annotations

from collections.abc import Callable

from gradledger.ledger import events as ev
from gradledger.ledger.account import MOST
from gradledger.ledger.books import Books, ScalerBook, SchedulerBook
from gradledger.ledger.judging import Judge
from gradledger.ledger.kinds import Kind
from gradledger.ledger.window import Tally


class Bookkeeping:
    """The part of the journal that handles them."""

    books: Books
    judge: Judge
    _schedules: dict[int, list[SchedulerBook]]
    _move_all: Callable[[Kind], None]

    # -- owners ---------------------------------------------------------------------------------------

    def _on_OptimizerBuilt(self, kind: Kind) -> None:
        assert isinstance(kind.event, ev.OptimizerBuilt)
        self.books.optimizer(kind.event.optimizer).built = kind.event

    def _on_AccountTaken(self, kind: Kind) -> None:
        event = kind.event
        assert isinstance(event, ev.AccountTaken)
        for number in event.accounts:
            self.books.balances[number].optimizer = event.optimizer

    def _on_ParametersOwned(self, kind: Kind) -> None:
        event = kind.event
        assert isinstance(event, ev.ParametersOwned)
        for number in event.accounts:
            balance = self.books.balances[number]
            balance.module, balance.training = event.module, event.training
            balance.names = event.names or balance.names

    def _on_ParametersMoved(self, kind: Kind) -> None:
        self._move_all(kind)
        for number in kind.event.accounts:  # type: ignore[attr-defined]
            self.books.balances[number].moved = True

    def _on_ParametersOrphaned(self, kind: Kind) -> None:
        for number in kind.event.accounts:  # type: ignore[attr-defined]
            self.books.balances[number].orphaned = True

    # -- scalers and schedulers -----------------------------------------------------------------------

    def _on_ScalerBuilt(self, kind: Kind) -> None:
        assert isinstance(kind.event, ev.ScalerBuilt)
        self.books.scalers.setdefault(kind.event.scaler, ScalerBook()).built = kind.event

    def _on_ScalerStepped(self, kind: Kind) -> None:
        event = kind.event
        assert isinstance(event, ev.ScalerStepped)
        if kind.tally is None:
            book = self.books.scalers.setdefault(event.scaler, ScalerBook())
            kind.tally = book.stepped.setdefault(event, Tally())
        assert isinstance(kind.tally, Tally)
        kind.tally.hit(self.books.steps + 1)

    def _on_ScalerUpdated(self, kind: Kind) -> None:
        assert isinstance(kind.event, ev.ScalerUpdated)
        self.books.scalers.setdefault(kind.event.scaler, ScalerBook()).updates += 1

    def _on_SchedulerBuilt(self, kind: Kind) -> None:
        event = kind.event
        assert isinstance(event, ev.SchedulerBuilt)
        book = self.books.schedulers.setdefault(event.scheduler, SchedulerBook())
        book.built = event
        schedules = self._schedules.setdefault(event.optimizer, [])
        if all(known is not book for known in schedules):
            schedules.append(book)

    def _on_SchedulerStepped(self, kind: Kind) -> None:
        event = kind.event
        assert isinstance(event, ev.SchedulerStepped)
        book = self.books.schedulers.setdefault(event.scheduler, SchedulerBook())
        if kind.tally is None:
            kind.tally = book.stepped.setdefault(event, Tally())
        optimizer = self.books.optimizer(event.optimizer)
        if not optimizer.steps and not optimizer.skipped:
            book.early += 1
            book.before_any_step = book.before_any_step or event
        assert isinstance(kind.tally, Tally)
        kind.tally.hit(optimizer.steps + 1)
        book.since_step += book.passes != self.books.backwards
        book.passes = self.books.backwards

    # -- facts ----------------------------------------------------------------------------------------

    def _on_LossMeasured(self, kind: Kind) -> None:
        event = kind.event
        assert isinstance(event, ev.LossMeasured)
        for number in event.accounts:
            losses = self.books.balances[number].losses
            if len(losses) < MOST:  # parameters that nothing ever steps or clears go on waiting
                losses.append(event)

    def _on_NormMeasured(self, kind: Kind) -> None:
        event = kind.event
        assert isinstance(event, ev.NormMeasured)
        for number in event.accounts:
            balance = self.books.balances[number]
            balance.inside_norm, balance.alone_norm = event.inside, event.alone
            owner = self.books.optimizers.get(balance.optimizer)
            balance.norm_step = 1 if owner is None else owner.steps + 1

    def _on_ClearNotCalled(self, kind: Kind) -> None:
        assert isinstance(kind.event, ev.ClearNotCalled)
        self.books.uncalled.append(kind.event)

    def _on_GraphKept(self, kind: Kind) -> None:
        event = kind.event
        assert isinstance(event, ev.GraphKept)
        self.books.kept[event.site, event.name] = event
        self.judge.on_change(self.books)

    def _on_GradientMissing(self, kind: Kind) -> None:
        assert isinstance(kind.event, ev.GradientMissing)
        self.books.missing.append(kind.event)

    def _on_StepRefused(self, kind: Kind) -> None:
        assert isinstance(kind.event, ev.StepRefused)
        self.books.refused.append(kind.event)

    def _on_RunEnded(self, kind: Kind) -> None:
        assert isinstance(kind.event, ev.RunEnded)
        self.books.ended, self.books.complete = True, kind.event.complete
