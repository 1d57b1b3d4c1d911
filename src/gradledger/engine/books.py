"""The accumulator's own books: the ledger's account machine, and what it does not allow."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from gradledger.engine.lines import caller
from gradledger.ledger import desk
from gradledger.ledger import events as ev
from gradledger.ledger.account import Account, post
from gradledger.ledger.errors import LedgerError
from gradledger.ledger.site import Site

_MOST = 20_000
"""So many transitions are remembered before the memory starts anew."""


class Books:
    """One account for all of an accumulator's gradients: they always move together."""

    def __init__(self, parameters: Sequence[Any], optimizer: Any, made_at: Site) -> None:
        self.made_at = made_at
        self.account = Account()
        self.parameters = parameters
        self.optimizer = optimizer
        self.opened_at: Site | None = None
        """The first backward of the open window."""
        self.last_at: Site | None = None
        """The latest one."""
        self._states: dict[Account, Account] = {self.account: self.account}
        self._moves: dict[tuple[int, int], Account] = {}
        self._events: dict[Hashable, ev.Event] = {}

    @property
    def waiting(self) -> int:
        """How many micro-batches no step has used."""
        return self.account.waiting

    def backward(self, site: Site, *, scaled: bool, reduced: bool | None) -> None:
        """Post one micro-batch."""
        event = self._same(
            site,
            ("backward", scaled, reduced),
            lambda: ev.BackwardRan(site, (1,), scaled_by=1 if scaled else None, reduced=reduced),
        )
        if self.opened_at is None:
            self.opened_at = site
        self.last_at = site
        self._move(event)

    def reduced(self, site: Site) -> None:
        """The sums of all ranks were put together."""
        self._move(self._same(site, "reduced", lambda: ev.GradientsReduced(site, (1,))))

    def unscaled(self, site: Site, scaler: Any) -> None:
        """The scaler's scale was divided out."""
        self._move(self._same(site, "unscaled", lambda: ev.GradientsUnscaled(site, (1,), 1, 1)), scaler)

    def normalised(self, site: Site) -> None:
        """The sum was divided by the window's total."""
        self._move(self._same(site, "normalised", lambda: ev.GradientChanged(site, (1,))))

    def clipped(self, site: Site) -> None:
        """The window's total was clipped."""
        self._move(self._same(site, "clipped", lambda: ev.GradientsClipped(site, (1,))))

    def stepped(self, site: Site) -> None:
        """The optimizer applied the window."""
        self._move(self._same(site, "stepped", lambda: ev.OptimizerStepped(site, (1,), 1, windowed=True)))

    def skipped(self, site: Site) -> None:
        """The window was used up without a step."""
        self._move(self._same(site, "skipped", lambda: ev.StepSkipped(site, (1,), 1, 1)))

    def cleared(self, site: Site, *, to_none: bool) -> None:
        """The gradients were emptied."""
        self._move(
            self._same(
                site,
                ("cleared", to_none),
                lambda: ev.GradientCleared(site, (1,), to="none" if to_none else "zero"),
            )
        )
        self.opened_at = self.last_at = None

    def scheduled(self, site: Site, scheduler: Any) -> None:
        """A scheduler advanced."""
        event = self._same(site, "scheduled", lambda: ev.SchedulerStepped(site, 1, 1))
        if desk.clerks:
            desk.hand_in(event, self.parameters, self.optimizer, scheduler)

    def assume(self, account: Account, site: Site) -> None:
        """Go on from a saved state."""
        self.account = self._states.setdefault(account, account)
        self.opened_at = self.last_at = site if account.fresh else None

    # -- what is not allowed ----------------------------------------------------------------------------

    def refuse_step(self) -> None:
        """Somebody other than the accumulator steps the optimizer."""
        here = caller()
        if self.waiting:
            raise LedgerError(
                f"{here}: optimizer.step() in an open window: the window was opened at {self.opened_at} and "
                "holds "
                f"{_micro_batches(self.waiting)}, not yet divided by their total. "
                "acc.backward() steps by itself when the window is full; acc.flush() closes it early."
            )
        raise LedgerError(
            f"{here}: optimizer.step() by hand: this optimizer belongs to the gradledger.Accumulator made at "
            f"{self.made_at}, which steps it when a window is full. Remove this call, or call acc.close() "
            "first."
        )

    def refuse_clear(self) -> None:
        """Somebody clears gradients; fine unless a window is open."""
        if self.waiting:
            raise LedgerError(
                f"{caller()}: zero_grad() in an open window would throw away {_micro_batches(self.waiting)}, "
                f"the first of them from {self.opened_at}. Remove this call: the accumulator clears after "
                "each update; "
                "acc.discard() drops an open window on purpose."
            )

    def refuse_foreign(self, site: Site, found: str) -> None:
        """Gradients are not as the accumulator left them."""
        before = self.last_at or self.made_at
        raise LedgerError(
            f"{site}: {found} between {before} and here, and not by the accumulator. "
            "Only acc.backward() may add to these gradients, and only the accumulator may clear or change "
            "them; "
            "acc.discard() drops what is there."
        )

    # -- the machine ------------------------------------------------------------------------------------

    def _same(self, site: Site, key: Hashable, make: Callable[[], ev.Event]) -> ev.Event:
        """The one event of this kind at this line; addresses are quicker to look up than lines."""
        event = self._events.get((id(site), key))
        if event is None or event.site is not site:
            event = self._events[id(site), key] = make()
        return event

    def _move(self, event: ev.Event, other: Any = None) -> None:
        key = (id(event), id(self.account))
        after = self._moves.get(key)
        if after is None:
            if len(self._moves) > _MOST:
                self._moves.clear()
                self._states = {self.account: self.account}
            after = post(self.account, event)
            after = self._moves[key] = self._states.setdefault(after, after)
        self.account = after
        if desk.clerks:
            desk.hand_in(event, self.parameters, self.optimizer, other)


def _micro_batches(number: int) -> str:
    return "1 micro-batch" if number == 1 else f"{number} micro-batches"
