"""What a recording holds beyond the ledger's events when somebody asked for detail: shapes, values, curves.

No rule reads these, and no account moves by them: they go to the recording and not to the journal.
"""

from __future__ import annotations

from gradledger.ledger.events import Accounts, Event
from gradledger.ledger.record import dataclass
from gradledger.ledger.site import Site

DEFAULT_STEP = 2
"""The first step finds no gradients of an earlier one: only the second shows what clearing does."""


@dataclass(frozen=True, slots=True)
class TensorSeen:
    """A tensor as it was looked at: its shape and type, and a few of its first values."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    values: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Detail(Event):
    """Something that was looked at."""


@dataclass(frozen=True, slots=True)
class StepsWanted(Detail):
    """These steps are looked at closely."""

    steps: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ParametersNamed(Detail):
    """What the model calls the parameters of an account."""

    account: int
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BatchTaken(Detail):
    """A loader or plain loop gave a batch."""

    source: int
    tensors: tuple[TensorSeen, ...] = ()


@dataclass(frozen=True, slots=True)
class ForwardSeen(Detail):
    """A model was called."""

    module: str
    inputs: tuple[TensorSeen, ...]
    outputs: tuple[TensorSeen, ...]


@dataclass(frozen=True, slots=True)
class LayerSeen(Detail):
    """A module inside the model, in the order of the forward pass."""

    module: str
    kind: str
    inputs: tuple[TensorSeen, ...]
    outputs: tuple[TensorSeen, ...]
    model: int = 0
    """Which of the models that are looked at: several may call their modules alike."""


@dataclass(frozen=True, slots=True)
class LayerGradientSeen(Detail):
    """What a backward pass brought to a module's parameters."""

    module: str
    norm: float
    model: int = 0


@dataclass(frozen=True, slots=True)
class LossSeen(Detail):
    """The value a backward pass started from, as the user wrote it, before a scaler's scale."""

    value: float
    criterion: float | None = None
    """What the loss function itself gave, before the user divided or weighted it, where one call led here."""
    samples: int | None = None
    """How many samples the batch had, where that could be told."""
    written: Site | None = None
    """The statement that gave it its value, where no loss function did and the text leaves no doubt."""
    clears_since: int = 0
    """How many clearings came between its last operation and the pass."""


@dataclass(frozen=True, slots=True)
class CriterionCalled(Detail):
    """A loss function of torch was called."""

    function: str
    value: float
    inputs: tuple[TensorSeen, ...] = ()


@dataclass(frozen=True, slots=True)
class AccuracySeen(Detail):
    """The share of right answers in a batch."""

    value: float
    samples: int


@dataclass(frozen=True, slots=True)
class NormSeen(Detail):
    """The norm of gradients: as a step found them, or on both sides of a clip."""

    accounts: Accounts
    value: float
    before_clip: float | None = None


@dataclass(frozen=True, slots=True)
class ParameterSeen(Detail):
    """One parameter or its gradient on both sides of the event that follows, or after the step just told."""

    takes: tuple[TensorSeen, ...] = ()
    gives: tuple[TensorSeen, ...] = ()


@dataclass(frozen=True, slots=True)
class RateSeen(Detail):
    """The learning rate of an optimizer, from here on."""

    optimizer: int
    value: float


@dataclass(frozen=True, slots=True)
class ScaleSeen(Detail):
    """A gradient scaler's scale, from here on."""

    scaler: int
    value: float


@dataclass(frozen=True, slots=True)
class MemorySeen(Detail):
    """The bytes that gradients hold, from here on."""

    gradients: int


@dataclass(frozen=True, slots=True)
class MetricSeen(Detail):
    """The value of a variable of the program, as an epoch left it."""

    name: str
    value: float


@dataclass(frozen=True, slots=True)
class LoopTurned(Detail):
    """The loop around a plain loop of batches went into its next turn: an epoch without a loader."""
