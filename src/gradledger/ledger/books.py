"""What the journal remembers: totals and shortened histories, in memory that does not grow with the run."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator

from gradledger.ledger import events as ev
from gradledger.ledger.account import Account
from gradledger.ledger.record import dataclass, field
from gradledger.ledger.site import Site
from gradledger.ledger.window import MeasuredWindow, Sequence, Tally, Window


@dataclass(slots=True)
class Balance:
    """The numbers of one account; `posted` is always the sum of the four places an entry can be."""

    size: int = 1
    names: tuple[str, ...] = ()
    optimizer: int | None = None
    trainable: bool = True
    module: int | None = None
    training: bool = False
    orphaned: bool = False
    moved: bool = False
    """Somebody gave them new values without an optimizer."""
    posted: int = 0
    fresh: int = 0
    stale: int = 0
    cleared_unused: int = 0
    cleared_used: int = 0
    inherited: int = 0
    """Entries taken over from the account this one was split from."""
    passes: deque[int] = field(default_factory=lambda: deque(maxlen=64))
    """The latest passes that wait here, oldest first."""
    backed: int = 0
    """How many passes reached these parameters in all."""
    steps: int = 0
    """How many steps applied something from here."""
    losses: list[ev.LossMeasured] = field(default_factory=list)
    """What the waiting passes' losses were made of, while all of them were measured."""
    inside_norm: float | None = None
    alone_norm: float | None = None
    norm_step: int = 0
    """The step that applied what was measured."""

    @property
    def balanced(self) -> bool:
        """The conservation law: every entry is waiting, used, or cleared."""
        total = self.fresh + self.stale + self.cleared_unused + self.cleared_used
        return self.posted + self.inherited == total


@dataclass(slots=True)
class OptimizerBook:
    """The life of one optimizer."""

    built: ev.OptimizerBuilt | None = None
    steps: int = 0
    skipped: int = 0
    cleared: int = 0
    """How often its gradients were cleared while they held something."""
    windows: dict[Window, Tally] = field(default_factory=dict)
    sequence: Sequence = field(default_factory=Sequence)
    measured: deque[MeasuredWindow] = field(default_factory=lambda: deque(maxlen=64))
    lost_tails: Counter[tuple[ev.GradientCleared, int]] = field(default_factory=Counter)


@dataclass(slots=True)
class ScalerBook:
    """The life of one gradient scaler."""

    built: ev.ScalerBuilt | None = None
    updates: int = 0
    stepped: dict[ev.ScalerStepped, Tally] = field(default_factory=dict)


@dataclass(slots=True)
class SchedulerBook:
    """The life of one learning-rate scheduler."""

    built: ev.SchedulerBuilt | None = None
    stepped: dict[ev.SchedulerStepped, Tally] = field(default_factory=dict)
    before_any_step: ev.SchedulerStepped | None = None
    """Its first advance, if the optimizer had not stepped by then."""
    early: int = 0
    """How many advances came before the optimizer's first step."""
    between_steps: Counter[int] = field(default_factory=Counter)
    """Advances between two steps of the optimizer -> how often; those without a pass between are one."""
    since_step: int = 0
    passes: int = -1
    """How many passes there had been at the last advance."""


@dataclass(slots=True)
class ClipBook:
    """What became of one clip call: did any step use what it clipped?"""

    calls: int = 0
    idle: int = 0
    """Calls that found nothing a later step could use."""
    after_step: int = 0
    """Of those, calls that found what a step had already applied."""
    used: int = 0
    wasted: int = 0
    """Calls after which other parameters were stepped and these were not."""
    others: dict[ev.OptimizerStepped, int] = field(default_factory=dict)
    """Steps of other parameters between this call and the next."""
    straight: int = 0
    """Calls after which other parameters were stepped before any further backward()."""
    astray: int = 0
    """Calls before which the latest backward() reached none of the clipped parameters."""
    passes: int = 0
    """How many passes there had been at the last call."""
    pending: bool = False
    spent: bool = False
    """The last call found only what a step had applied."""
    missed: bool = False
    """Since the call, other parameters were stepped and these were not."""

    @property
    def late(self) -> bool:
        """Whether most calls that found nothing to clip came right after a step."""
        return 2 * self.after_step > self.idle


@dataclass(slots=True)
class ClearTally:
    """How often a clearing ran, and how often there was anything to clear."""

    calls: int = 0
    effective: int = 0
    accounts: set[int] = field(default_factory=set)
    """What it was to clear, as far as that is known."""


@dataclass(slots=True)
class Books:
    """Everything the rules may read."""

    accounts: dict[int, Account] = field(default_factory=dict)
    balances: dict[int, Balance] = field(default_factory=dict)
    optimizers: dict[int | None, OptimizerBook] = field(default_factory=dict)
    scalers: dict[int, ScalerBook] = field(default_factory=dict)
    schedulers: dict[int, SchedulerBook] = field(default_factory=dict)
    clips: dict[ev.GradientsClipped, ClipBook] = field(default_factory=dict)
    clears: dict[Site | None, ClearTally] = field(default_factory=dict)
    passes: dict[Site | None, PassTally] = field(default_factory=dict)
    uncalled: list[ev.ClearNotCalled] = field(default_factory=list)
    kept: dict[tuple[Site | None, str], ev.GraphKept] = field(default_factory=dict)
    missing: list[ev.GradientMissing] = field(default_factory=list)
    refused: list[ev.StepRefused] = field(default_factory=list)
    backwards: int = 0
    steps: int = 0
    ended: bool = False
    complete: bool = True
    """False when the program was cut off: what never came may still have been planned."""

    def optimizer(self, number: int | None) -> OptimizerBook:
        """The optimizer's book, opened on demand."""
        book = self.optimizers.get(number)
        if book is None:
            book = self.optimizers[number] = OptimizerBook()
        return book

    def held_by(self, optimizer: int | None) -> Iterator[tuple[int, Balance]]:
        """The accounts whose parameters this optimizer holds."""
        return ((number, b) for number, b in self.balances.items() if b.optimizer == optimizer)

    def unbalanced(self) -> list[int]:
        """Accounts in which an entry appeared or vanished without an event: always empty."""
        return [number for number, balance in self.balances.items() if not balance.balanced]


@dataclass(slots=True)
class PassTally:
    """The passes of one backward() line."""

    ran: ev.BackwardRan
    count: int = 0
    accounts: set[int] = field(default_factory=set)
    together: set[tuple[int, ...]] = field(default_factory=set)
    """The accounts that one pass reached, each set of them once."""
