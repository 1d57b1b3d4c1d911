"""What can happen to gradients, in the past tense of PyTorch's own verbs.

An event says *what kind of thing* happened, not which instance: the thousandth pass through a loop yields
the same event as the second. Front ends hand the same object again, and the journal need not think twice.
Measurements, which differ each time, travel as events of their own and only when somebody took them.
"""

from __future__ import annotations

from typing import Literal

from gradledger.ledger.record import dataclass
from gradledger.ledger.site import Site

Accounts = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened at a line of the user's code (None where no line can be told)."""

    site: Site | None


@dataclass(frozen=True, slots=True)
class AccountOpened(Event):
    """Parameters came into view and are booked together from now on; with a parent, they left its account."""

    account: int
    size: int
    names: tuple[str, ...] = ()
    parent: int | None = None
    optimizer: int | None = None
    trainable: bool = True
    """False for leaves that are data (an input whose gradient is wanted), not parameters."""
    module: int | None = None
    """The outermost model these parameters belong to, where it is known."""
    training: bool = False
    """That model is in training mode."""


@dataclass(frozen=True, slots=True)
class OptimizerBuilt(Event):
    """An optimizer was constructed, or seen for the first time."""

    optimizer: int
    kind: str
    divided_rate: bool = False
    """Its learning rate is written as a quotient: the sum of a window may be what is meant."""
    own_methods: bool = False
    """Its class has methods that torch's have not: these may sum up gradients themselves."""


@dataclass(frozen=True, slots=True)
class BackwardRan(Event):
    """backward() added to these accounts."""

    accounts: Accounts
    scaled_by: int | None = None
    """The gradient scaler whose scale is in the loss."""
    reduced: bool | None = None
    """Whether the replicas' gradients were reduced by this pass; None where there are no replicas."""
    repeats: Site | None = None
    """An earlier backward whose root lies inside this one's graph."""
    wants_input: bool = False
    """The pass also reached a leaf that is no parameter: its gradient may be all that was wanted."""
    loader: int | None = None
    """The data loader that gave a new batch since this line's pass before."""
    shares_batch: bool = False
    """Another line has run a pass over that batch before."""
    loop: int | None = None
    """The plain loop around this line, where no loader gave the batch."""
    averaged_twice: bool = False
    """The loss is the mean of N terms that were each divided by N before."""
    kept_graph: bool = False
    """The graph was kept for a later pass over the same forward."""


@dataclass(frozen=True, slots=True)
class GradientCleared(Event):
    """These accounts were emptied."""

    accounts: Accounts
    by: Literal["optimizer", "module", "hand"] = "optimizer"
    to: Literal["none", "zero"] = "none"
    owner: int | None = None
    """The optimizer whose zero_grad() it was."""
    unread: bool = False
    """Certainly nothing looked at the gradients between the backward and this line."""


@dataclass(frozen=True, slots=True)
class ClearNotCalled(Event):
    """A line names zero_grad without calling it."""

    text: str


@dataclass(frozen=True, slots=True)
class GradientAssigned(Event):
    """`.grad` was replaced by another tensor."""

    accounts: Accounts


@dataclass(frozen=True, slots=True)
class GradientChanged(Event):
    """`.grad` was altered in place by hand, in a way that is no clearing."""

    accounts: Accounts
    clipping: bool = False
    """The alteration depends on the values, as clipping does, and not on a constant."""
    divided_by: int = 0
    """The whole number by which every value was divided, if it was that."""


@dataclass(frozen=True, slots=True)
class OptimizerStepped(Event):
    """A step applied what these accounts held; optimizer None is an update written by hand."""

    accounts: Accounts
    optimizer: int | None
    scaler: int | None = None
    """The gradient scaler through which the step was made."""
    nonfinite: bool = False
    """A gradient held NaN or Inf."""
    windowed: bool = False
    """The source says that steps close windows: a counter guards this line, or names tell so."""


@dataclass(frozen=True, slots=True)
class AccountTaken(Event):
    """An optimizer took over parameters that nobody held."""

    accounts: Accounts
    optimizer: int


@dataclass(frozen=True, slots=True)
class ParametersOwned(Event):
    """It was found out which model the parameters of these accounts belong to."""

    accounts: Accounts
    module: int
    training: bool
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ParametersMoved(Event):
    """The program gave parameters new values without an optimizer, and not visibly by their gradients."""

    accounts: Accounts


@dataclass(frozen=True, slots=True)
class ParametersOrphaned(Event):
    """No living model owns the parameters of these accounts any more."""

    accounts: Accounts
    optimizer: int


@dataclass(frozen=True, slots=True)
class StepSkipped(Event):
    """A gradient scaler found Inf or NaN and did not step."""

    accounts: Accounts
    optimizer: int
    scaler: int


@dataclass(frozen=True, slots=True)
class StepRefused(Event):
    """torch raised inside the scaler's step."""

    accounts: Accounts
    optimizer: int
    scaler: int
    reason: Literal["already-stepped", "never-scaled", "no-gradients"]


@dataclass(frozen=True, slots=True)
class ClosureEvaluated(Event):
    """An optimizer evaluates its closure once more within one step, having used what is there."""

    accounts: Accounts
    optimizer: int


@dataclass(frozen=True, slots=True)
class UsedElsewhere(Event):
    """Another optimizer's step used passes `first` to `last` (exclusive) of what waits in these accounts."""

    accounts: Accounts
    optimizer: int | None
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class GradientsClipped(Event):
    """Gradients were clipped, by norm or by value."""

    accounts: Accounts
    only_measures: bool = False
    """The bound is infinite."""
    scaled_bound: bool = False
    """The bound was multiplied by the scaler's scale as well."""


@dataclass(frozen=True, slots=True)
class GradientsReduced(Event):
    """The program reduced gradients across replicas itself."""

    accounts: Accounts


@dataclass(frozen=True, slots=True)
class ScalerBuilt(Event):
    """A gradient scaler was constructed, or seen for the first time."""

    scaler: int
    enabled: bool = True
    inside_loop: bool = False
    """The same running loop had constructed one at this line before."""


@dataclass(frozen=True, slots=True)
class LossScaled(Event):
    """A scaler multiplied a loss by its scale."""

    scaler: int


@dataclass(frozen=True, slots=True)
class GradientsUnscaled(Event):
    """A scaler divided the gradients by its scale."""

    accounts: Accounts
    scaler: int
    optimizer: int


@dataclass(frozen=True, slots=True)
class ScalerStepped(Event):
    """A scaler's step() was called, whatever became of it."""

    scaler: int
    optimizer: int


@dataclass(frozen=True, slots=True)
class ScalerUpdated(Event):
    """A scaler adapted its scale."""

    scaler: int


@dataclass(frozen=True, slots=True)
class SchedulerBuilt(Event):
    """A learning-rate scheduler was constructed, or seen for the first time."""

    scheduler: int
    optimizer: int
    kind: str
    horizon: int | None = None
    """The number of advances it was planned for, where the plan has one."""
    per_batch: bool = False
    """The plan is certainly counted in batches."""


@dataclass(frozen=True, slots=True)
class SchedulerStepped(Event):
    """A learning-rate scheduler advanced."""

    scheduler: int
    optimizer: int
    explicit: bool = False
    """The caller said to which point."""


@dataclass(frozen=True, slots=True)
class EpochEnded(Event):
    """A loader ran out, or a loop around the batches turned."""

    source: int
    accounts: Accounts = ()
    """Those that hold batches of this source which no step has used."""
    exhausted: bool = True


@dataclass(frozen=True, slots=True)
class GraphKept(Event):
    """Graphs of finished backward passes stay in memory because a variable refers to them."""

    name: str
    held: int


@dataclass(frozen=True, slots=True)
class GradientMissing(Event):
    """The program failed on a `.grad` that is None."""

    text: str


@dataclass(frozen=True, slots=True)
class LossMeasured(Event):
    """What the loss of the last pass was made of."""

    accounts: Accounts
    reduction: Literal["mean", "masked", "sum", "unknown"]
    """"masked" is a sum divided by a number of its own: a count of tokens, or a share of a larger whole."""
    factor: float | None
    """The constant the reduced loss was multiplied by, over the whole way to the root."""
    count: float | None
    """How many samples or tokens the reduction ran over."""


@dataclass(frozen=True, slots=True)
class NormMeasured(Event):
    """The norm of what an account holds now, and of what the last pass alone added."""

    accounts: Accounts
    inside: float
    alone: float


@dataclass(frozen=True, slots=True)
class RunEnded(Event):
    """Nothing more will come; `complete` is False when the program was cut off."""

    complete: bool = True
