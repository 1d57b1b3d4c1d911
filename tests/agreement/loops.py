"""Training loops as data: what stands where, with which window, in which shape of program."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Op(Enum):
    """A call that takes part in the cycle; `backward()` itself always stands at its place."""

    CLEAR = "clear"
    CLIP = "clip"
    STEP = "step"
    SCHEDULE = "schedule"
    UNSCALE = "unscale"
    RESCALE = "rescale"


class Place(Enum):
    """Where in the program a call stands."""

    RUN = "before the first epoch"
    EPOCH = "at the start of an epoch"
    START = "at the start of a batch"
    FORWARD = "between forward and backward"
    BACKWARD = "after the backward of a micro-batch"
    UPDATE = "where a window ends"
    END = "at the end of a batch"
    EPOCH_END = "after the batches of an epoch"


class Guard(Enum):
    """How the program notices that a window ends."""

    EVERY = "no guard: every batch is a window"
    MODULO = "(i + 1) % n == 0"
    EARLY = "i % n == 0"
    FLAG = "a flag computed ahead"
    CONTINUE = "an early continue"
    COUNTER = "a counter that starts anew with each epoch"
    RUNNING = "a counter that runs on over the epochs"
    INNER = "an inner loop over the chunks of a batch"


class Tail(Enum):
    """What becomes of the batches after the last full window of an epoch."""

    LEFT = "nothing"
    GUARD = "the guard is also true at the last batch"
    AFTER = "a second update after the loop"


class Clearing(Enum):
    """The way in which gradients are cleared."""

    OPTIMIZER = "optimizer.zero_grad()"
    ZEROS = "optimizer.zero_grad(set_to_none=False)"
    MODEL = "model.zero_grad()"
    NONE = "p.grad = None"
    IN_PLACE = "p.grad.zero_()"
    HELPER = "a function that calls zero_grad()"


BY_HAND = (Clearing.NONE, Clearing.IN_PLACE)
"""The ways that call no zero_grad()."""


class Precision(Enum):
    """Whether there is a gradient scaler, and whether the program asks a flag about it."""

    PLAIN = "no scaler"
    SCALER = "a scaler"
    ARM_ON = "two arms, the flag is true"
    ARM_OFF = "two arms, the flag is false"
    DISABLED = "a scaler that is switched off"

    @property
    def scales(self) -> bool:
        """Whether losses that go through the scaler are multiplied."""
        return self in (Precision.SCALER, Precision.ARM_ON)


class Shape(Enum):
    """What holds the loop."""

    SCRIPT = "the module"
    MAIN = "a function, with closures for its parts"
    TRAINER = "a class, with methods for its parts"


class Held(Enum):
    """Which part has a function of its own."""

    NOTHING = "none"
    UPDATE = "the calls where a window ends"
    PASS = "forward and backward"


class Link(Enum):
    """How the losses of two models hang together."""

    SEPARATE = "each model has its own loss"
    JOINT = "one loss through both models"
    THROUGH = "the first model's loss passes through the second"


class Source(Enum):
    """Where batches come from."""

    LOADER = "a DataLoader"
    LIST = "a list of batches"


@dataclass(frozen=True)
class Player:
    """One model with its optimizer and the calls for it, in the order they have at each place."""

    calls: tuple[tuple[Place, Op], ...]
    clearing: Clearing = Clearing.OPTIMIZER
    scaled: bool = True
    """Its loss goes through the scaler, if there is one."""
    through_scaler: bool = True
    """Its step goes through the scaler, if there is one."""

    def at(self, place: Place) -> tuple[Op, ...]:
        """The calls at one place."""
        return tuple(op for where, op in self.calls if where is place)

    def has(self, op: Op) -> bool:
        """Whether the call stands anywhere."""
        return any(found is op for _, found in self.calls)


@dataclass(frozen=True)
class Loop:
    """A whole program."""

    players: tuple[Player, ...]
    guard: Guard = Guard.EVERY
    size: int = 1
    """The micro-batches of the window that is meant."""
    batches: int = 5
    tail: Tail = Tail.LEFT
    divided: bool = True
    """Each loss is divided by the size of the window."""
    link: Link = Link.SEPARATE
    precision: Precision = Precision.PLAIN
    shape: Shape = Shape.SCRIPT
    held: Held = Held.NOTHING
    source: Source = Source.LOADER
    flagged: Op | None = None
    """Calls of this kind stand under a flag that is true."""
    dead: Op | None = None
    """A call of this kind stands under a flag that is false."""

    def owners(self, player: int) -> frozenset[int]:
        """The players whose steps the loss of this one is meant for."""
        return frozenset(range(len(self.players))) if self.link is Link.JOINT else frozenset({player})
