"""The stages of a turn in level flight: what each must look like to count as the one that is due."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from sys import _getframe
from types import CodeType, FrameType
from typing import Any

from torch import Tensor

from gradledger.ledger import events as ev
from gradledger.runtime.cohort import Cohort, size

FARTHEST = 64
"""So many frames of torch and other libraries may lie between the user's line and a probe."""

_nobody: Callable[[], Any] = type(None)
"""A reference to nothing, as quick to follow as a weak one."""


class Sentinel:
    """The smallest gradient of an account stands for all of them."""

    __slots__ = ("cohort", "grad", "ref", "sample", "version")

    def __init__(self, cohort: Cohort) -> None:
        self.cohort = cohort
        self.ref = weakref.ref(min(cohort.params(), key=size))
        self.grad: Tensor | None = None
        self.version = 0
        self.sample: list[float] | None = None
        """A few of its numbers as the last pass of a scaled loss left them."""

    def note(self) -> None:
        """Remember the gradient as it is."""
        param = self.ref()
        self.grad = None if param is None else param.grad
        self.version = 0 if self.grad is None else self.grad._version

    def is_touched(self) -> bool:
        """Whether the gradient is another one now, or was changed."""
        param, grad = self.ref(), self.grad
        return param is not None and (
            param.grad is not grad or (grad is not None and grad._version != self.version)
        )

    def replay(self, event: ev.Event) -> None:
        """Bring the cohort to where a full audit would have it after this event."""
        cohort = self.cohort
        match event:
            case ev.GradientCleared():
                cohort.spent, cohort.waiting, cohort.changed_by_step = False, 0, False
                cohort.sample = None
            case ev.BackwardRan():
                cohort.waiting += 1
                cohort.changed_by_step = False
                cohort.sample = self.sample if event.scaled_by is not None else None
            case ev.OptimizerStepped():
                cohort.spent, cohort.waiting, cohort.changed_by_step = cohort.held, 0, True
                cohort.sample = None


class Stage:
    """One event of the turn: the line it must come from, on whose call, and the accounts it concerns."""

    __slots__ = (
        "code",
        "depth",
        "event",
        "guards",
        "kind",
        "lasti",
        "loader",
        "on",
        "params",
        "sampled",
        "scaled_by",
        "sentinels",
        "who",
    )

    def __init__(
        self,
        event: ev.Event,
        place: tuple[CodeType, int],
        sentinels: Sequence[Sentinel],
        who: Callable[[], Any] | None,
        on: Callable[[], Any] | None,
    ) -> None:
        self.event = event
        self.kind = type(event)
        self.code, self.lasti = place
        self.sentinels = sentinels
        # A clearing is seen when it has run.
        self.guards = () if isinstance(event, ev.GradientCleared) else sentinels
        self.who = who or _nobody
        """The optimizer, scaler or scheduler whose method it is."""
        self.on = on or _nobody
        """The optimizer that a scaler is working on."""
        self.depth = 0
        """How many frames above `is_due` the user's line is, once that is known."""
        shared = getattr(event, "shares_batch", False)
        self.loader: int | None = None if shared else getattr(event, "loader", None)
        """The loader that must have given a batch since the stage before."""
        self.params: set[int] = set()
        """The identities of all parameters that a clipping must be given."""
        self.scaled_by: int | None = getattr(event, "scaled_by", None)
        """The scaler whose scale the loss has carried all along, if any."""
        self.sampled = self.scaled_by is not None

    def is_due(self, kind: type[ev.Event], who: Any = None, on: Any = None) -> bool:
        """Whether this call is the one that is due and finds the gradients as they were left."""
        if self.kind is not kind or self.who() is not who or (on is not None and self.on() is not on):
            return False
        if not self.depth:
            self.depth = _distance(_getframe(), self.code)
        try:
            frame = _getframe(self.depth)
        except ValueError:
            return False
        if frame.f_code is not self.code or frame.f_lasti != self.lasti:
            return False
        for sentinel in self.guards:
            param, grad = sentinel.ref(), sentinel.grad
            if param is None or param.grad is not grad:
                return False
            if grad is not None and grad._version != sentinel.version:
                return False
        return True

    def note(self) -> None:
        """Remember the gradients as they are, and whose they are."""
        for sentinel in self.sentinels:
            sentinel.note()
        if self.kind is ev.GradientsClipped:
            self.params = {id(ref()) for sentinel in self.sentinels for ref in sentinel.cohort.refs}


def _distance(frame: FrameType | None, code: CodeType) -> int:
    for depth in range(FARTHEST):
        if frame is None:
            break
        if frame.f_code is code:
            return depth
        frame = frame.f_back
    return FARTHEST
