"""Each step of an optimizer beside the window it is meant to apply."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from itertools import pairwise
from math import isclose, prod

from tests.agreement.loops import Link, Loop
from tests.agreement.recorder import Content, Moment, Record
from tests.agreement.text import BOUND, SCALE
from tests.agreement.weights import Weights, reaches, weights

FAINT = 1e-6
"""What clips have made smaller than this may be lost among the other passes."""


@dataclass(frozen=True)
class Update:
    """One step: the passes it should apply and those it does."""

    at: Moment
    scaler: bool
    window: frozenset[int]
    """The optimizer's own passes since its step before."""
    content: Weights
    used: frozenset[int]
    """What its earlier steps have applied."""

    @property
    def inside(self) -> frozenset[int]:
        """All passes in the gradient."""
        return frozenset(self.content)

    @property
    def fresh(self) -> frozenset[int]:
        """Passes of the window that are applied."""
        return self.window & self.inside

    @property
    def lost(self) -> frozenset[int]:
        """Passes of the window that are not."""
        return self.window - self.inside

    @property
    def stale(self) -> frozenset[int]:
        """Passes that are applied for the second time."""
        return self.used & self.inside


@dataclass(frozen=True)
class Bound:
    """One clip call and what it found."""

    at: Moment
    content: Weights
    shrink: float
    """What it multiplied the gradient by."""


class History:
    """The life of one optimizer, in numbers."""

    def __init__(self, optimizer: int, loop: Loop, record: Record) -> None:
        self.number, self.loop, self.record = optimizer, loop, record
        self.passes = record.passes
        self._steps = [step for step in record.steps if step.optimizer == optimizer]
        self.reaching = [k for k, one in enumerate(self.passes) if reaches(one, optimizer)]
        self.own = frozenset(k for k in self.reaching if self._meant(k))
        self.updates = self._updates()
        clips = [clip for clip in record.clips if clip.optimizer == optimizer]
        self.clips = [Bound(clip.at, weights(clip, self.passes), _shrink(clip)) for clip in clips]
        self.clearings = [c.at for c in record.clearings if c.optimizer == optimizer]
        self.advances = [a.at for a in record.advances if a.optimizer == optimizer]

    def _meant(self, number: int) -> bool:
        """Whether the pass is meant for this optimizer; a loss may go through it for another's step."""
        if self.loop.link is not Link.THROUGH or self.number == 0:
            return True
        return not self.used_elsewhere(number, self.record.end)

    def used_elsewhere(self, number: int, before: int) -> bool:
        """Whether another optimizer's step has applied the pass by then."""
        others = (step for step in self.record.steps if step.optimizer != self.number)
        return any(number in weights(s, self.passes) for s in others if s.at.time < before)

    def _updates(self) -> list[Update]:
        updates: list[Update] = []
        since, used = 0, frozenset[int]()
        for step in self._steps:
            window = self.between(since, step.at.time)
            update = Update(step.at, step.scaler, window, weights(step, self.passes), used)
            updates.append(update)
            since, used = step.at.time, used | update.inside
        return updates

    def unclipped(self, content: Weights, at: Moment) -> Weights:
        """The weights as they would be without any clip before this moment."""
        whole = dict(content)
        for clip in self.clips:
            for k in whole:
                if self.passes[k].at.time < clip.at.time < at.time:
                    whole[k] /= clip.shrink
        return whole

    def pure(self, update: Update) -> bool:
        """Whether the step applies passes of its window alone, each as its loss was meant, but for clips."""
        whole = self.unclipped(update.content, update.at)
        meant = ((whole[k], self.passes[k].factor) for k in update.fresh)
        return update.inside <= update.window and all(
            any(isclose(weight * scale, factor, rel_tol=1e-6) for scale in (1, SCALE))
            for weight, factor in meant
        )

    def faded(self, update: Update) -> frozenset[int]:
        """Passes that a step applies once more, so small after many clips that they cannot be measured."""
        found = set()
        for k in update.used - update.inside:
            cleared, applied = self.cleared(k), self.passes[k].at.time
            since = (clip.shrink for clip in self.clips if applied < clip.at.time < update.at.time)
            if (cleared is None or cleared.time > update.at.time) and prod(since) < FAINT:
                found.add(k)
        return frozenset(found)

    def between(self, first: int, last: int) -> frozenset[int]:
        """The own passes between two moments."""
        return frozenset(k for k in self.own if first < self.passes[k].at.time < last)

    def epoch(self, number: int) -> int:
        """The epoch of a pass."""
        return self.passes[number].at.epoch

    def cleared(self, number: int) -> Moment | None:
        """The first clearing after a pass."""
        after = self.passes[number].at.time
        return next((at for at in self.clearings if at.time > after), None)

    def line(self, numbers: Set[int]) -> int:
        """The backward() line of the earliest of these passes."""
        return self.passes[min(numbers)].at.line

    def lines(self, numbers: Set[int]) -> set[int]:
        """Their backward() lines."""
        return {self.passes[k].at.line for k in numbers}

    def gaps(self) -> list[tuple[int, int]]:
        """The times between one step and the next, from the start of the run."""
        return list(pairwise([0, *(update.at.time for update in self.updates)]))


def _shrink(clip: Content) -> float:
    """The factor of a clip, by torch's own formula."""
    return min(1.0, BOUND / (float(clip.gradient.norm()) + 1e-6))
