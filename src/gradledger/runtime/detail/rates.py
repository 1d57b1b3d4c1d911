"""The closer look at learning rates and scales: told when they change."""

from __future__ import annotations

from collections.abc import Callable

from gradledger.ledger import events as ev
from gradledger.ledger.details import Detail, RateSeen, ScaleSeen
from gradledger.runtime.detail.looking import one_number
from gradledger.runtime.detail.telling import Telling
from gradledger.runtime.observer import Observer
from gradledger.runtime.patch import Patches


class RateLook:
    """Hears of steps, schedulers and scalers, and asks them for their number."""

    def __init__(self, telling: Telling, observer: Observer) -> None:
        self._telling = telling
        self._observer = observer
        self._last: dict[tuple[str, int], float] = {}

    def install(self, patches: Patches) -> None:
        """Begin to listen."""
        self._telling.ears.append(self._hear)

    def _hear(self, event: ev.Event) -> None:
        match event:
            case ev.OptimizerStepped(optimizer=int(number)) | ev.SchedulerStepped(optimizer=number):
                behind = self._observer.optimizers.behind(number)
                optimizer = None if behind is None else behind()
                if optimizer is not None and optimizer.param_groups:
                    self._changed("rate", number, optimizer.param_groups[0].get("lr"), RateSeen)
            case ev.LossScaled(scaler=number) | ev.ScalerUpdated(scaler=number):
                behind = self._observer.others.behind(number)
                scaler = None if behind is None else behind()
                if scaler is not None:
                    self._changed("scale", number, scaler.get_scale(), ScaleSeen)
            case _:
                pass

    def _changed(
        self, what: str, number: int, value: object, kind: Callable[[None, int, float], Detail]
    ) -> None:
        now = one_number(value)
        if now is not None and self._last.get((what, number)) != now:
            self._last[what, number] = now
            self._telling.tell(kind(None, number, now))
