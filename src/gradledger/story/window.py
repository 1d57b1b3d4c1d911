"""The events of one step, from the batch it begins with to what follows it before the next batch."""

from __future__ import annotations

from gradledger.ledger import details as d
from gradledger.ledger import events as ev
from gradledger.ledger.record import dataclass
from gradledger.story.state import NOTHING
from gradledger.story.told import Gradients

MOST = 20_000
"""A window of more events than this is cut off."""


@dataclass(frozen=True, slots=True)
class Item:
    """An event with the gradients' state on both sides of it."""

    event: ev.Event
    before: Gradients = NOTHING
    after: Gradients = NOTHING


class StepWindow:
    """Collects what belongs to one step while a recording goes by."""

    def __init__(self, step: int) -> None:
        self.step = step
        self.found = False
        """Whether the step has come."""
        self.items: list[Item] = []
        self._over = False
        self._collecting = step == 1
        self._begun = step == 1
        self._held: list[Item] = []
        """Details that may belong to the event with which the step begins."""
        self._previous: ev.OptimizerStepped | ev.StepSkipped | None = None

    @property
    def wants(self) -> bool:
        """Whether the next event may belong to it."""
        return self._collecting and not self._over

    def add(
        self, event: ev.Event, before: Gradients, after: Gradients, *, by_batches: bool, by_closure: bool
    ) -> None:
        """One more event; a turn begins with a loader's batch, or with what a closure begins with."""
        item = Item(event, before, after)
        anew = _begins_anew(event, self._previous, by_batches=by_batches, by_closure=by_closure)
        if isinstance(event, d.LayerSeen) and event.site is None:
            self._held.append(item)  # the model's call, which follows, tells where that was
        elif self.found and anew:
            self._over = True
        elif self._begun or anew:
            self._begun = True
            if len(self.items) < MOST:
                self.items += [*self._held, item]
            self._held = []
        else:
            self._held = [*self._held, item] if isinstance(event, d.Detail) else []

    def closed(self, number: int, event: ev.OptimizerStepped | ev.StepSkipped) -> None:
        """The window of this number was closed."""
        if number == self.step - 1:
            self._collecting, self._previous = True, event
        elif number == self.step:
            self.found, self._previous = True, event


_PARTS = (d.BatchTaken, d.LayerSeen, d.ForwardSeen, d.CriterionCalled, d.LossSeen, ev.BackwardRan)
"""What a turn of the loop may begin with."""


def _begins_anew(
    event: ev.Event, step: ev.OptimizerStepped | ev.StepSkipped | None, *, by_batches: bool, by_closure: bool
) -> bool:
    """Whether this is no longer what follows the step, but the beginning of the next turn of the loop."""
    if isinstance(event, (d.BatchTaken, ev.EpochEnded, d.LoopTurned)):
        return True
    if by_batches:
        return False
    here, there = event.site, None if step is None else step.site
    if here is not None and there is not None and (here.path, here.function) == (there.path, there.function):
        return (here.line, here.column or 0) < (there.line, there.column or 0)
    return isinstance(event, _PARTS) or (by_closure and isinstance(event, ev.GradientCleared))
