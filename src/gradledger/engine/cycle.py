"""The cycle of a window: open, add micro-batches, close; the one place where gradients are moved."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from gradledger.engine import custody
from gradledger.engine.books import Books
from gradledger.engine.closing import Closing, Plan
from gradledger.engine.counting import Window, exchange
from gradledger.engine.differentiating import Pass, differentiate, hides_parameters
from gradledger.engine.policy import Policy, Tail
from gradledger.engine.precision import Scaling, WideGradients
from gradledger.engine.roster import Roster
from gradledger.engine.scheduling import Schedules
from gradledger.engine.seal import Seal
from gradledger.engine.skipping import speak_of
from gradledger.engine.sums import Sums, Term
from gradledger.engine.update import Outcome, Update
from gradledger.engine.window_statistics import WindowStatistics
from gradledger.ledger.errors import LedgerError
from gradledger.ledger.site import Site
from gradledger.parallel.collective import is_of_talking, lost_contact
from gradledger.parallel.reduction import Reduction


class Cycle:
    """Holds the open window and its gradients."""

    def __init__(
        self,
        *,
        roster: Roster,
        books: Books,
        keeper: custody.Custody,
        policy: Policy,
        scaling: Scaling,
        schedules: Schedules,
        reduction: Reduction,
        closing: Closing,
        wide: WideGradients | None,
        summed: bool,
        clips: bool,
        nonfinite: str,
        to_none: bool,
        isolate: bool | None,
    ) -> None:
        self.roster = roster
        self.books = books
        self.reduction = reduction
        self.scaling = scaling
        self.schedules = schedules
        self._keeper = keeper
        self._policy = policy
        self._closing = closing
        self._wide = wide
        self.sums = Sums(roster, scaling, reduction, policy, summed=summed)
        self._clips = clips
        self._nonfinite = nonfinite
        self._to_none = to_none
        self._isolate = isolate
        self.window: Window | None = None
        self.windows = 0
        """Windows closed so far, whatever became of them."""
        self.applied = 0
        self.length: int | None = None
        self.left = 0
        """How many more micro-batches of this epoch every rank has for certain."""
        self.ends = False
        """The next micro-batch is the epoch's last, on every rank, and closes the window."""
        self.filler = False
        """The batch in hand repeats an earlier one, so that all ranks run the same number of passes."""
        self.all_finished = False
        """Every rank's data had ended when the last window was closed."""
        self.damaged: Site | None = None
        self.closed_at: Site | None = None
        self.last_update: Update | None = None
        self.listeners: list[Callable[[Update], None]] = []
        self.openers: list[Callable[[int | None], bool]] = []
        """Told of every window that opens how long it will be, if that is known, until they answer True."""
        self.statistics: WindowStatistics | None = None
        self.closes = False
        """The micro-batch being added is the last of its window."""
        self._look_inside = False
        """Whether a graph could hold what `inputs=` does not reach is looked up in the first window."""
        self._seal = Seal()

    @property
    def parameters(self) -> list[Tensor]:
        """What the optimizers hold."""
        return self.roster.parameters

    # -- adding a micro-batch ---------------------------------------------------------------------------

    def add(
        self, terms: list[Term], site: Site, *, closes: bool | None = None, through: Pass = differentiate
    ) -> Update | None:
        """Differentiate a micro-batch's loss into the window; the update if that closes it.

        Without a word on closing, the policy and the data's end decide.
        """
        window = self.window
        if window is None or self.damaged is not None or self.closed_at is not None:
            window = self._open(site)
        else:
            self._check_seal(site)
        if self.filler:
            terms = [(name, loss, 0.0) for name, loss, _ in terms]
        count = terms[0][2]
        if not self.sums.unit:
            self.sums.choose_unit(count, self.length)
        if closes is None:
            closes = self.ends or self._policy.fills(window, count, self.length, self.reduction.ranks)
        self.closes = closes
        reduces = self.reduction.before_backward(last=closes)
        if self._look_inside:
            self._refuse_hidden(terms, site)
        try:
            self.sums.add(terms, through, reduces=reduces is True)
        except BaseException as error:
            self._abandon(site)
            if self.reduction.ranks > 1 and isinstance(error, RuntimeError) and is_of_talking(error):
                raise lost_contact(error) from error  # DDP and FSDP2 reduce inside the backward
            raise
        if not window.micro_batches:
            self._check_reached(terms, site)
        for name, loss, number in terms:
            window.tally(name).add(loss, float(number > 0) if self.sums.summed else number, number)
        window.micro_batches += 1
        # Reducing before the window's end is a choice that was declared, and nothing to wonder about.
        reduced = None if reduces and not closes else reduces
        self.books.backward(site, scaled=self.scaling.scaler is not None, reduced=reduced)
        if closes:
            return self.close(site)
        self._seal.put(self.parameters)
        return None

    def _open(self, site: Site) -> Window:
        self._refuse_if_closed(site)
        if self.damaged is not None:
            raise LedgerError(
                f"{site}: the backward at {self.damaged} failed half way, so the gradients of its window are "
                "incomplete. Call acc.discard() and begin the window again."
            )
        if self._keeper.fingerprint() != self._keeper.known:
            self.books.parameters = self.roster.read()
            self._keeper.known = self._keeper.fingerprint()
            if self._wide is not None:
                self._wide.widen()
        if any(p.grad is not None for p in self.parameters) and (self._to_none or not self._all_zero()):
            self.books.refuse_foreign(site, "gradients appeared")
        self.window = Window()
        self.length = self._policy.length(self.windows)
        self.scaling.open()
        self.openers = [opener for opener in self.openers if not opener(self.length)]
        isolated = custody.several() if self._isolate is None else self._isolate
        # FSDP2 differentiates with respect to gathered copies that nobody outside can name.
        isolated = isolated and not self.reduction.needs_equal_passes
        self.sums.inputs = [p for p in self.parameters if p.requires_grad] if isolated else ()
        self._look_inside = isolated and not self.windows
        return self.window

    def _all_zero(self) -> bool:
        return not any(bool(p.grad.any()) for p in self.parameters if p.grad is not None)

    def _refuse_if_closed(self, site: Site) -> None:
        if self.closed_at is not None:
            raise LedgerError(
                f"{site}: this accumulator was closed at {self.closed_at}. Make a new "
                "gradledger.Accumulator to go on."
            )

    def _refuse_hidden(self, terms: list[Term], site: Site) -> None:
        """Reentrant checkpointing runs a backward of its own, which `inputs=` would leave out in silence."""
        if any(hides_parameters(loss) for _, loss, _ in terms):
            raise LedgerError(
                f"{site}: this loss goes through reentrant activation checkpointing, whose parameters "
                "cannot be "
                "reached by a backward that is kept to one accumulator's parameters. Use "
                "checkpoint(..., use_reentrant=False), or Accumulator(..., isolate=False)."
            )

    def _abandon(self, site: Site) -> None:
        """A backward failed half way."""
        if self.window is not None and not self.window.micro_batches and not self.sums.buffers:
            self._clear(site)
            self.window = None
        else:
            self.damaged = site

    def _check_reached(self, terms: list[Term], site: Site) -> None:
        """The first pass of a window must have reached a parameter."""
        if self.sums.buffers or not any(count for _, _, count in terms) or self.reduction.needs_equal_passes:
            return
        if all(p.grad is None for p in self.parameters):
            self.window = None
            raise LedgerError(
                f"{site}: this loss reached none of the {len(self.parameters)} parameters: it was computed "
                "by another model, or from detached tensors, or all of them are frozen"
            )

    def _check_seal(self, site: Site) -> None:
        broken = self._seal.broken()
        if broken is not None:
            self.books.refuse_foreign(site, broken)

    # -- closing ----------------------------------------------------------------------------------------

    def close(self, site: Site, *, finished: bool = False) -> Update | None:
        """Turn the window, of all ranks together, into an update; None if there is none on any rank."""
        window = self.window or Window()
        if self.window is not None and self._keeper.fingerprint() != self._keeper.known:
            raise LedgerError(
                f"{site}: the optimizer's parameters changed in an open window, which began at "
                f"{self.books.opened_at}. Add or replace parameters between windows; acc.discard() drops "
                "this one."
            )
        totals = exchange(window, self.reduction, finished=finished)
        self.all_finished = totals.all_finished
        if not totals.micro_batches:
            return None
        if not self.sums.agreed:
            self.sums.agree()
        plan = self._closing.plan(self.sums.combine(totals))
        if self.reduction.ranks > 1:
            self.books.reduced(site)
        outcome: Outcome = "applied"
        if totals.empty:
            outcome = "skipped_empty"
        elif not plan.finite:
            outcome = "skipped_nonfinite"
        rate = self._keeper.rate()
        if outcome == "applied":
            self._apply(plan, site)
            if self.statistics is not None:
                self.statistics.commit()
        else:
            self.books.skipped(site)
        lost_precision = self.scaling.now <= 1.0
        self.scaling.update(self._keeper.first, overflow=outcome == "skipped_nonfinite")
        self._clear(site)
        self.windows += 1
        if outcome == "applied":
            for scheduler in self.schedules.applied():
                self.books.scheduled(site, scheduler)
        update = Update(
            self.applied, outcome, plan.norm, totals.counts[0], window.micro_batches, rate, totals.loss
        )
        self.last_update = update
        if outcome == "applied":
            for listener in self.listeners:
                listener(update)
        elif outcome == "skipped_empty" or lost_precision:
            speak_of(update, site, self._nonfinite)
        return update

    def _apply(self, plan: Plan, site: Site) -> None:
        fold = self._closing.prepare(plan)
        if self.scaling.scaler is not None:
            self.books.unscaled(site, self.scaling.scaler)
        self.books.normalised(site)
        if self._clips:
            self.books.clipped(site)
        self._closing.step(fold)
        self.applied += 1
        self.books.stepped(site)

    def _clear(self, site: Site) -> None:
        if self._to_none:
            for p in self.parameters:
                p.grad = None
        else:
            gradients = [p.grad for p in self.parameters if p.grad is not None]
            if gradients:
                torch._foreach_zero_(gradients)
        if self._wide is not None:
            self._wide.widen()
        self.books.cleared(site, to_none=self._to_none)
        self.sums.buffers.clear()
        if self.statistics is not None:
            self.statistics.forget()
        self._seal.remove()
        self.window = self.damaged = None

    # -- around the data's end --------------------------------------------------------------------------

    def drop(self, site: Site) -> None:
        """Throw the open window away."""
        self._refuse_if_closed(site)
        self._clear(site)

    def finish(self, site: Site, tail: Tail) -> Update | None:
        """Treat the open window as the tail of the data; ranks that have ended wait for the others."""
        self._refuse_if_closed(site)
        if self.damaged is not None:
            self._open(site)
        if tail == "carry":
            return None
        self._check_seal(site)
        if tail == "drop" and self.window is not None:
            self._clear(site)
        if self.reduction.ranks == 1:
            return self.close(site) if self.window is not None else None
        if self.reduction.needs_equal_passes:
            return self.close(site)
        latest = None
        self.reduction.before_forward(last=None)
        self.reduction.before_backward(last=False)
        while True:
            latest = self.close(site, finished=True) or latest
            if self.all_finished:
                return latest

    def finish_whole(self, site: Site) -> Update | None:
        """Close a window that all ranks have filled."""
        self._check_seal(site)
        self.reduction.before_backward(last=False)
        return self.close(site)

    def resume(
        self,
        window: Window | None,
        gradients: dict[str, list[Tensor | None]],
        *,
        windows: int,
        applied: int,
        unit: tuple[float, bool],
        site: Site,
    ) -> None:
        """Take over a saved window."""
        self._refuse_if_closed(site)
        self._clear(site)
        self.windows, self.applied = windows, applied
        self.sums.unit, self.sums.agreed = unit
        if window is None:
            return
        scale = self.scaling.now
        self._open(site)
        self.scaling.now = scale
        self.window = window
        self.sums.take_over(gradients)
        self._seal.put(self.parameters)

    def announce(self) -> None:
        """Tell the reduction whether the next micro-batch is known, on every rank, to close its window."""
        if self.reduction.ranks == 1:
            return
        inside = 0 if self.window is None else self.window.micro_batches
        length = self._policy.length(self.windows) if self.window is None else self.length
        known = self.left > 0 and self.sums.agreed and not self.sums.buffers
        self.reduction.before_forward(last=(self.ends or inside + 1 == length) if known else None)
