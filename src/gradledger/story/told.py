"""What a story consists of: records of plain data, which JSON can hold."""

from __future__ import annotations

from typing import Any

from gradledger.ledger.details import TensorSeen
from gradledger.ledger.record import dataclass, field, field_names


@dataclass(frozen=True, slots=True)
class Gradients:
    """The state that gradients are in."""

    state: str
    """"none", "zero", "fresh", "accumulated", "stale", "by hand", or "mixed"."""
    text: str
    micro_batches: int = 0
    """How many passes wait in them for a step."""
    stale: bool = False
    """They hold what a step has applied before."""
    parts: tuple[Gradients, ...] = ()
    """Where parameters differ, the state of each lot of them."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One thing that a training step does."""

    kind: str
    title: str
    path: str | None
    line: int | None
    before: Gradients
    after: Gradients
    micro: int = 1
    """The micro-batch of the window it belongs to, counted from 1."""
    takes: tuple[TensorSeen, ...] = ()
    gives: tuple[TensorSeen, ...] = ()
    facts: dict[str, float | str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Layer:
    """A module on the way of one sample through the model, and what came back to its parameters."""

    name: str
    kind: str
    takes: tuple[TensorSeen, ...]
    gives: tuple[TensorSeen, ...]
    gradient: float | None = None
    """The norm of what the pass brought to its own parameters; None if it has none."""


@dataclass(frozen=True, slots=True)
class Epoch:
    """The numbers of one epoch, or of a stretch of steps where there are no epochs."""

    label: str
    loss: float | None
    accuracy: float | None
    metric: float | None
    norm: float | None
    """The mean norm of the gradients as the updates found them."""
    updates: int
    skipped: int
    passes: int
    rate: float | None
    """The learning rate of its last update."""
    stale_updates: int = 0
    """Updates that applied again what an earlier one had applied."""
    first_loss: float | None = None
    last_loss: float | None = None
    """The mean losses of its first and its last few passes."""
    observation: str = ""


@dataclass(frozen=True, slots=True)
class Curve:
    """A number over the micro-batches of the run; where there are very many, neighbours are one."""

    at: tuple[int, ...]
    values: tuple[float, ...]
    lows: tuple[float, ...] = ()
    highs: tuple[float, ...] = ()
    width: int = 1
    """How many values a point stands for."""
    broken: int = 0
    """Values that are no number, and not here."""
    path: str | None = None
    line: int | None = None
    """The line this curve is of, if it is of one only."""


@dataclass(frozen=True, slots=True)
class Story:
    """All that is told of a run."""

    step: int
    """The step whose stages and layers are shown; 0 if there is none."""
    steps: int
    passes: int
    stages: tuple[Stage, ...]
    layers: tuple[Layer, ...]
    loss: float | None
    """The loss of the sample's batch."""
    scale: float | None
    """The gradient scaler's scale, which the layers' gradients carry."""
    epochs: tuple[Epoch, ...]
    by_steps: bool
    """The rows of the table are stretches of steps: the program has no epochs."""
    curves: dict[str, Curve]
    skips: tuple[int, ...]
    """The micro-batches after which an update was skipped."""
    epoch_ends: tuple[int, ...]
    """The micro-batches after which an epoch ended."""
    metric: str | None
    observation: str
    complete: bool
    """The program ended by itself."""


def plain(thing: Any) -> Any:
    """The same as dictionaries, lists, strings and numbers."""
    if hasattr(thing, "__record_fields__"):
        return {name: plain(getattr(thing, name)) for name in field_names(thing)}
    if isinstance(thing, dict):
        return {name: plain(value) for name, value in thing.items()}
    if isinstance(thing, (list, tuple)):
        return [plain(item) for item in thing]
    return thing
