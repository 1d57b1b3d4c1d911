"""Learning-rate schedules that follow applied updates, or epochs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torch.optim.lr_scheduler import ReduceLROnPlateau


class Schedules:
    """Advances schedulers, and none of them before its optimizer has stepped."""

    def __init__(self, per_update: Any, per_epoch: Any) -> None:
        self.per_update = _listed(per_update, "scheduler")
        self.per_epoch = _listed(per_epoch, "epoch_scheduler")
        if any(isinstance(each, ReduceLROnPlateau) for each in self.per_update):
            raise ValueError(
                "ReduceLROnPlateau follows a metric of each epoch: pass it as epoch_scheduler= and call "
                "acc.end_epoch(metric=...) after validation"
            )
        self._in_epoch = 0
        """Updates applied since the epoch schedulers advanced."""

    def applied(self) -> list[Any]:
        """An update was applied; which schedulers have advanced."""
        self._in_epoch += 1
        for scheduler in self.per_update:
            scheduler.step()
        return self.per_update

    def epoch_ended(self, metric: float | None = None, *, asked: bool) -> list[Any]:
        """An epoch is over, seen by the data's end or said by the user; which schedulers have advanced."""
        moved: list[Any] = []
        if self._in_epoch:
            moved += [each for each in self.per_epoch if not isinstance(each, ReduceLROnPlateau)]
            for scheduler in moved:
                scheduler.step()
            self._in_epoch = 0
        if asked:
            waiting = [each for each in self.per_epoch if isinstance(each, ReduceLROnPlateau)]
            for scheduler in waiting:
                if metric is None:
                    raise ValueError(
                        "ReduceLROnPlateau follows a number: acc.end_epoch(metric=validation_loss)"
                    )
                scheduler.step(metric)
            moved += waiting
        return moved

    def state_dict(self) -> dict[str, Any]:
        """Every scheduler's state."""
        return {
            "per_update": [each.state_dict() for each in self.per_update],
            "per_epoch": [each.state_dict() for each in self.per_epoch],
            "in_epoch": self._in_epoch,
        }

    def check(self, state: dict[str, Any]) -> None:
        """Refuse a state that does not fit."""
        for name, mine in (("per_update", self.per_update), ("per_epoch", self.per_epoch)):
            if len(mine) != len(state[name]):
                raise ValueError(
                    f"the checkpoint has {len(state[name])} {name} schedulers, this accumulator {len(mine)}"
                )

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        for name, mine in (("per_update", self.per_update), ("per_epoch", self.per_epoch)):
            for scheduler, saved in zip(mine, state[name], strict=True):
                scheduler.load_state_dict(saved)
        self._in_epoch = state["in_epoch"]


def _listed(schedulers: Any, name: str) -> list[Any]:
    if schedulers is None:
        return []
    found = list(schedulers) if isinstance(schedulers, Iterable) else [schedulers]
    for each in found:
        if not callable(getattr(each, "step", None)) or not hasattr(each, "state_dict"):
            raise ValueError(f"{name} must be a learning-rate scheduler, not {type(each).__name__}")
    return found
