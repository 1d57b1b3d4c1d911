"""The closer look at gradients as a whole: their norm at steps and around clips, and the memory they hold."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from torch import Tensor

from gradledger.ledger import events as ev
from gradledger.ledger.details import MemorySeen, NormSeen
from gradledger.runtime.clipping import Clipping
from gradledger.runtime.cohort import Cohort, Gone
from gradledger.runtime.detail.looking import gradient_norm
from gradledger.runtime.detail.telling import Telling, careful
from gradledger.runtime.observer import Observer
from gradledger.runtime.patch import Patches


class NormLook:
    """Hears of steps, clips, passes and clearings, and looks at the gradients then."""

    def __init__(self, telling: Telling, observer: Observer, clipping: Clipping) -> None:
        self.telling = telling
        self._observer = observer
        self._clipping = clipping
        self._before_clip: float | None = None
        self._bytes = 0

    def install(self, patches: Patches) -> None:
        """Begin to listen."""
        self.telling.ears.append(self._hear)
        self._clipping.before = self._clips

    @careful
    def _clips(self, cohorts: Sequence[Cohort]) -> None:
        self._before_clip = gradient_norm(_gradients(cohorts))

    def _hear(self, event: ev.Event) -> None:
        match event:
            case ev.OptimizerStepped():
                self.telling.tell(NormSeen(event.site, event.accounts, self._norm(event.accounts)))
            case ev.GradientsClipped():
                before, self._before_clip = self._before_clip, None
                value = self._norm(event.accounts)
                self.telling.tell(NormSeen(event.site, event.accounts, value, before))
            case ev.BackwardRan() | ev.GradientCleared():
                held = sum(
                    grad.numel() * grad.element_size()
                    for grad in _gradients(self._observer.cohorts)
                    if not grad.is_sparse
                )
                if held != self._bytes:
                    self._bytes = held
                    self.telling.tell(MemorySeen(None, held))
            case _:
                pass

    def _norm(self, accounts: Sequence[int]) -> float:
        wanted = set(accounts)
        return gradient_norm(_gradients([c for c in self._observer.cohorts if c.account in wanted]))


def _gradients(cohorts: Sequence[Cohort]) -> list[Tensor]:
    found: list[Tensor] = []
    for cohort in cohorts:
        with suppress(Gone):
            found += [p.grad for p in cohort.params() if p.grad is not None]
    return found
