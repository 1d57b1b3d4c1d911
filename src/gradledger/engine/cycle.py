"""The cycle of a window: open, add micro-batches, close; the one place where gradients are moved."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from gradledger.engine import custody
from gradledger.engine.books import Books
from gradledger.engine.closing import Closing, Plan
from gradledger.engine.counting import SOLE, Totals, Window, exchange, unit_for
from gradledger.engine.differentiating import Pass, differentiate, nothing
from gradledger.engine.policy import Policy, Tail
from gradledger.engine.precision import Scaling, WideGradients, full_precision
from gradledger.engine.scheduling import Schedules
from gradledger.engine.skipping import speak_of
from gradledger.engine.update import Outcome, Update
from gradledger.engine.window_statistics import WindowStatistics
from gradledger.ledger.errors import LedgerError
from gradledger.ledger.site import Site
from gradledger.parallel.reduction import Reduction

Term = tuple[str, Tensor, float]


class Cycle:
    """Holds the open window and its gradients."""

    def __init__(
        self,
        *,
        parameters: list[Tensor],
        books: Books,
        keeper: custody.Custody,
        policy: Policy,
        scaling: Scaling,
        schedules: Schedules,
        reduction: Reduction,
        closing: Closing,
        wide: WideGradients | None,
        reread: Callable[[], list[Tensor]],
        summed: bool,
        clips: bool,
        nonfinite: str,
        to_none: bool,
        isolate: bool | None,
    ) -> None:
        self.parameters = parameters
        self.books = books
        self.reduction = reduction
        self.scaling = scaling
        self.schedules = schedules
        self._keeper = keeper
        self._policy = policy
        self._closing = closing
        self._wide = wide
        self._reread = reread
        self.summed = summed
        self._clips = clips
        self._nonfinite = nonfinite
        self._to_none = to_none
        self._isolate = isolate
        self.window: Window | None = None
        self.windows = 0
        """Windows closed so far, whatever became of them."""
        self.applied = 0
        self.unit = 0.0
        """The count that weighs one; a power of two, the same on all ranks and for the whole run."""
        self.length: int | None = None
        self.buffers: dict[str, list[Tensor | None]] = {}
        """The gradients of each loss term, where there are several."""
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
        self._inputs: Sequence[Tensor] = ()
        self._seal: tuple[Tensor, Tensor, int] | None = None
        self._root: tuple[float, torch.dtype, Tensor] | None = None

    # -- adding a micro-batch ---------------------------------------------------------------------------

    def add(
        self, terms: list[Term], site: Site, *, last: bool, through: Pass = differentiate
    ) -> Update | None:
        """Differentiate a micro-batch's loss into the window; the update if that closes it."""
        window = self.window
        if window is None or self.damaged is not None or self.closed_at is not None:
            window = self._open(site)
        else:
            self._check_seal(site)
        if self.filler:
            terms = [(name, loss, 0.0) for name, loss, _ in terms]
        if not self.unit:
            self._agree_on_unit(terms[0][2])
        count = terms[0][2]
        closes = last or self.ends or self._policy.fills(window, count, self.length, self.reduction.ranks)
        self.closes = closes
        reduces = self.reduction.before_backward(last=closes)
        try:
            self._differentiate(terms, through, reduces=reduces is True)
        except BaseException:
            self._abandon(site)
            raise
        if not window.micro_batches:
            self._check_reached(terms, site)
        for name, loss, number in terms:
            window.tally(name).add(loss, float(number > 0) if self.summed else number, number)
        window.micro_batches += 1
        self.books.backward(site, scaled=self.scaling.scaler is not None, reduced=reduces)
        if closes:
            return self.close(site)
        self._set_seal()
        return None

    def _open(self, site: Site) -> Window:
        self._refuse_if_closed(site)
        if self.damaged is not None:
            raise LedgerError(
                f"{site}: the backward at {self.damaged} failed half way, so the gradients of its window are "
                "incomplete. Call acc.discard() and begin the window again."
            )
        if self._keeper.fingerprint() != self._keeper.known:
            self.parameters = self.books.parameters = self._reread()
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
        self._inputs = [p for p in self.parameters if p.requires_grad] if isolated else ()
        return self.window

    def _all_zero(self) -> bool:
        return not any(bool(p.grad.any()) for p in self.parameters if p.grad is not None)

    def _refuse_if_closed(self, site: Site) -> None:
        if self.closed_at is not None:
            raise LedgerError(
                f"{site}: this accumulator was closed at {self.closed_at}. Make a new "
                "gradledger.Accumulator to go on."
            )

    def _agree_on_unit(self, count: float) -> None:
        most = self.reduction.extremes(count)[1]
        self.unit = unit_for(most) if most > 0 else 0.0

    def _differentiate(self, terms: list[Term], through: Pass, *, reduces: bool) -> None:
        several = len(terms) > 1 or (terms[0][0] != SOLE)
        if not several and not self.buffers:
            self._one_pass(terms[0][1], terms[0][2], through, reduces=reduces, keep_graph=False)
            return
        held = self.buffers.pop(SOLE, None)
        assert held is None
        for number, (name, loss, count) in enumerate(terms, 1):
            self._show(self.buffers.get(name))
            self._one_pass(loss, count, through, reduces=False, keep_graph=number < len(terms))
            self.buffers[name] = [p.grad for p in self.parameters]
        self._show(None)

    def _show(self, gradients: list[Tensor | None] | None) -> None:
        """Let the parameters' `.grad` be these."""
        for index, p in enumerate(self.parameters):
            p.grad = None if gradients is None else gradients[index]

    def _one_pass(
        self, loss: Tensor, count: float, through: Pass, *, reduces: bool, keep_graph: bool
    ) -> None:
        weight = (1.0 if self.summed and count else count) / self.unit if count else 0.0
        if not weight and not self.reduction.needs_equal_passes:
            if not reduces:
                return
            # The others wait for this rank's part; a loss over nothing may be NaN, which no factor makes
            # zero.
            loss = nothing([p for p in self.parameters if p.requires_grad])
        loss = full_precision(loss) if self.scaling.scaler is not None else loss
        factor = weight * self.scaling.now
        root = self._root
        if root is None or root[0] != factor or root[1] != loss.dtype or root[2].shape != loss.shape:
            root = self._root = (factor, loss.dtype, torch.full_like(loss, factor, requires_grad=False))
        through(loss, root[2], self._inputs, keep_graph=keep_graph)

    def _abandon(self, site: Site) -> None:
        """A backward failed half way."""
        if self.window is not None and not self.window.micro_batches and not self.buffers:
            self._clear(site)
            self.window = None
        else:
            self.damaged = site

    def _check_reached(self, terms: list[Term], site: Site) -> None:
        """The first pass of a window must have reached a parameter."""
        if self.buffers or not any(count for _, _, count in terms) or self.reduction.needs_equal_passes:
            return
        if all(p.grad is None for p in self.parameters):
            self.window = None
            raise LedgerError(
                f"{site}: this loss reached none of the {len(self.parameters)} parameters: it was computed "
                "by another "
                "model, or from detached tensors, or all of them are frozen"
            )

    def _set_seal(self) -> None:
        """Remember one gradient as it is: nobody else may touch it before the window closes."""
        if self._seal is not None and self._seal[0].grad is self._seal[1]:
            self._seal = (self._seal[0], self._seal[1], self._seal[1]._version)
            return
        p = next((p for p in self.parameters if p.grad is not None), None)
        self._seal = None if p is None or p.grad is None else (p, p.grad, p.grad._version)

    def _check_seal(self, site: Site) -> None:
        if self._seal is not None:
            p, gradient, version = self._seal
            if p.grad is None:
                self.books.refuse_foreign(site, "the gradients of the open window were cleared")
            if p.grad is not gradient or gradient._version != version:
                self.books.refuse_foreign(site, "the gradients of the open window were changed")

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
        factor = self._combine(totals) / self.scaling.now
        plan = self._closing.plan(factor)
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

    def _combine(self, totals: Totals) -> float:
        """Make `.grad` the sums over the ranks; what they are still to be multiplied by."""
        if not self.buffers and totals.terms == 1:
            gradients = [[p.grad for p in self.parameters]]
        else:
            nothing_yet: list[Tensor | None] = [None] * len(self.parameters)
            mine = [self.buffers[name] for name in sorted(self.buffers)]
            gradients = [*mine, *[nothing_yet] * (totals.terms - len(mine))]
        finished = self.reduction.finish(gradients, self.parameters)
        factors = [self.unit * self.reduction.factor() / count if count else 0.0 for count in totals.counts]
        if len(finished) == 1:
            if finished[0] is not gradients[0]:
                self._show(finished[0])
            return factors[0] or 1.0
        for index, p in enumerate(self.parameters):
            parts = [(part[index], factor) for part, factor in zip(finished, factors, strict=True)]
            terms = [g.mul_(factor) for g, factor in parts if g is not None]
            p.grad = terms[0] if terms else None
            for term in terms[1:]:
                terms[0].add_(term)
        return 1.0

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
        self.buffers.clear()
        if self.statistics is not None:
            self.statistics.forget()
        self.window = self._seal = self.damaged = None

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

    def resume(
        self,
        window: Window | None,
        gradients: dict[str, list[Tensor | None]],
        *,
        windows: int,
        applied: int,
        unit: float,
        site: Site,
    ) -> None:
        """Take over a saved window."""
        self._refuse_if_closed(site)
        self._clear(site)
        self.windows, self.applied, self.unit = windows, applied, unit
        if window is None:
            return
        scale = self.scaling.now
        self._open(site)
        self.scaling.now = scale
        self.window = window
        sole = gradients.pop(SOLE, None)
        self._show(sole)
        self.buffers = gradients
        self._set_seal()

    def announce(self) -> None:
        """Tell the reduction whether the next micro-batch is known, on every rank, to close its window."""
        if self.reduction.ranks == 1:
            return
        inside = 0 if self.window is None else self.window.micro_batches
        length = self._policy.length(self.windows) if self.window is None else self.length
        known = self.left > 0 and not self.buffers
        self.reduction.before_forward(last=(self.ends or inside + 1 == length) if known else None)
