"""What a variable can hold in the small model; numbers, strings and containers are themselves."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from gradledger.ledger.record import dataclass, field
from gradledger.ledger.site import Site

if TYPE_CHECKING:
    from gradledger.static.unit import Unit

Value = Any
Args = list[Value]
Named = dict[str, Value]
Accounts = frozenset[int]
NOTHING: Accounts = frozenset()


class Length(int):
    """The length of a loop, and what is computed from it: it says nothing about windows."""

    def __add__(self, other: int) -> int:
        return Length(int(self) + other)

    __radd__ = __add__

    def __sub__(self, other: int) -> int:
        return Length(int(self) - other)

    def __mul__(self, other: int) -> int:
        return Length(int(self) * other)

    __rmul__ = __mul__

    def __floordiv__(self, other: int) -> int:
        # Made small before the window is known, a long loop still holds one of them.
        return Length(max(int(self) // other, min(int(self), 1)))


class Unknown:
    """A value nobody can tell; equal labels are equal values."""

    __slots__ = ("account", "asked", "attrs", "fleeting", "label", "of", "role")

    def __init__(self, label: str) -> None:
        self.label = label
        self.attrs: dict[str, Value] = {}
        self.account: int | None = None
        """Its parameters' account, once it was used as a model."""
        self.fleeting = False
        """It is computed anew in each turn of a loop."""
        self.role: Value = None
        """What its use has shown it to be: an optimizer, a scaler."""
        self.of: Unknown | None = None
        """Of what it is an attribute."""
        self.asked = ""
        """The name of that attribute."""

    def __repr__(self) -> str:
        return f"<{self.label}>"


@dataclass(slots=True, eq=False, repr=False)
class Tensor:
    """The result of a computation that gradients may flow through."""

    serial: int
    deps: Accounts = NOTHING
    """The accounts a backward() from here reaches."""
    parts: frozenset[int] = NOTHING
    """Serials of the tensors it was computed from."""
    reduction: Literal["mean", "masked", "sum", "unknown"] = "unknown"
    factor: float | None = 1.0
    presumed: bool = False
    """That it is a mean is likely and not certain."""
    scaled_by: int | None = None
    reduced: bool | None = None
    """Whether a backward() from here will reduce over replicas; None without replicas."""
    opaque: bool = False
    """Something that cannot be seen took part: it may reach more than is known."""
    rows: int | None = None
    """The size of its first dimension, where that is known."""
    count: int | None = None
    """How many rows the mean in it runs over, where that is known."""
    kept: int = 0
    """How many differentiable losses were added up in this variable."""
    leaf: int | None = None
    """Its own account, if it is a leaf that requires gradients."""
    cut: bool = False
    """The way back to the parameters was cut on purpose: detached, or computed without gradients."""
    hazy: bool = False
    """Something that an unseen call gave back took part."""
    negative: bool = False
    made_of: Accounts = NOTHING
    """The accounts whose gradients it was computed from."""
    stacked: int = 0
    """How many tensors it is a stack of."""
    averaged_twice: bool = False
    divisions: frozenset[str] = frozenset()
    """The unknown numbers it was divided by."""


@dataclass(slots=True, eq=False, repr=False)
class Parameters:
    """The parameters of one or more models: `model.parameters()`, a list of them, one abstract element."""

    accounts: Accounts
    opaque: bool = False
    element: bool = False
    data: bool = False
    """The `.data` of an element."""
    parts: tuple[tuple[str, int], ...] = ()
    """Its parameters by name, where the names are known."""
    spent: bool | None = None
    """Of an iterator: whether something has read it to its end."""
    picked: bool = False
    """A condition has left some out."""


@dataclass(slots=True, eq=False, repr=False)
class Gradient:
    """`p.grad` of such parameters."""

    accounts: Accounts
    text: str


@dataclass(slots=True, eq=False, repr=False)
class Model:
    """An nn.Module that was built by a torch call."""

    kind: str
    account: int | None
    """Its own parameters' account; None if it has none of its own."""
    children: list[Value] = field(default_factory=list)
    attrs: dict[str, Value] = field(default_factory=dict)
    loss: str | None = None
    """The reduction, if it is a loss."""
    replicated: bool = False
    local: int = 0
    """How many no_sync contexts are open."""
    sync: bool = True
    training: bool = True


OF_A_LIST = frozenset(
    {"append", "extend", "pop", "insert", "reverse", "sort", "remove", "clear", "copy", "index", "count"}
)
"""What a class that is a kind of list can do without saying so."""


@dataclass(slots=True, eq=False, repr=False)
class ClassValue:
    """A class defined in the source."""

    node: ast.ClassDef
    unit: Unit
    scope: Scope
    bases: list[Value]
    attrs: dict[str, Value] = field(default_factory=dict)
    is_module: bool = False
    is_lightning: bool = False

    def lineage(self) -> list[ClassValue]:
        """The class and its bases that are in sight, nearest first."""
        parents = [base for base in self.bases if isinstance(base, ClassValue)]
        if len(parents) < 2:
            return [self, *parents[0].lineage()] if parents else [self]
        # As Python does: a class comes before its bases, and bases in the order in which they are written.
        rows = [*(parent.lineage() for parent in parents), parents]
        line: list[ClassValue] = [self]
        while rows := [row for row in rows if row]:
            heads = [row[0] for row in rows if not any(row[0] in other[1:] for other in rows)]
            first = heads[0] if heads else rows[0][0]
            line.append(first)
            rows = [[cls for cls in row if cls is not first] for row in rows]
        return line

    def find(self, name: str) -> Value:
        """A class attribute, or None."""
        if name in self.attrs:
            return self.attrs[name]
        for cls in self.lineage() if self.bases else ():
            if name in cls.attrs:
                return cls.attrs[name]
        return None


@dataclass(slots=True, eq=False, repr=False)
class Instance:
    """An object of a class defined in the source."""

    cls: ClassValue
    attrs: dict[str, Value] = field(default_factory=dict)
    serial: int = 0
    replicated: bool = False
    local: int = 0
    sync: bool = True
    training: bool = True
    label: str = ""
    items: list[Value] | None = None
    """What it holds if its class is a kind of list."""


@dataclass(slots=True, eq=False, repr=False)
class Function:
    """A function, method or lambda defined in the source."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    unit: Unit
    scope: Scope
    owner: ClassValue | None = None
    no_grad: bool = False
    kind: Literal["plain", "static", "class", "property"] = "plain"
    defaults: tuple[Value, ...] = ()
    keyword_defaults: tuple[Value, ...] = ()
    strange: bool = False
    """A decorator that is not in sight stands around it."""
    known: dict[Any, Value] | None = None
    """What it has given before, if it gives the same again for the same."""
    setter: Value = None
    """Of a property, the function that an assignment calls."""


@dataclass(slots=True, eq=False, repr=False)
class Bound:
    """A method of an object, ready to be called; `target` is a function or the name of a torch method."""

    owner: Value
    target: Function | str


@dataclass(slots=True, eq=False, repr=False)
class Builtin:
    """A call that the model answers itself."""

    name: str
    call: Callable[..., Value]


@dataclass(frozen=True, slots=True)
class External:
    """Something imported that is not in the source, by its dotted name."""

    name: str


@dataclass(slots=True, eq=False, repr=False)
class Namespace:
    """An imported module whose source is at hand."""

    unit: Unit
    scope: Scope


@dataclass(slots=True, eq=False, repr=False)
class Super:
    """`super()` inside a method."""

    instance: Value
    after: ClassValue


@dataclass(slots=True, eq=False, repr=False)
class Optimizer:
    """An optimizer."""

    number: int
    kind: str
    accounts: Accounts | None
    """None if its parameters cannot be seen."""
    name: str = ""
    foreign: bool = False
    """Not built here, or by a class that cannot be seen: it may clear by itself."""
    untold: bool = False
    """Something that cannot be seen may have stepped or cleared it."""
    accelerator: Accelerator | None = None
    attrs: dict[str, Value] = field(default_factory=dict)
    site: Site | None = None
    bereft: bool = False
    """No name refers to the model it was built from, or not the one any more that did."""
    picked: bool = False
    """It was given single parameters: which of a layer's cannot be told."""


@dataclass(slots=True, eq=False, repr=False)
class Scheduler:
    """A learning-rate scheduler."""

    number: int
    optimizer: Optimizer
    accelerator: Accelerator | None = None
    plan: int | str | None = None
    """How many advances it was planned for: a number, or the label of an unknown one."""
    per_update: bool = False
    """The loop that makes one update a turn has just as many turns."""
    per_batch: bool = False
    """It was planned for just as many advances as the loops around one have turns."""


@dataclass(slots=True, eq=False, repr=False)
class Scaler:
    """A gradient scaler."""

    number: int
    enabled: bool = True
    foreign: bool = False
    stepped: set[int] = field(default_factory=set)
    """Optimizers stepped since the last update()."""


@dataclass(slots=True, eq=False, repr=False)
class Loader:
    """Something that yields batches."""

    number: int
    length: int | None
    rows: int | None = None
    batch: int | None = None


@dataclass(slots=True, eq=False, repr=False)
class Iteration:
    """Something that can be iterated over, and how far somebody has come."""

    length: int
    make: Callable[[int], Value]
    exact: bool = True
    """The length is the program's own."""
    loader: Loader | None = None
    label: str = ""
    """The unknown number that is its length."""
    endless: bool = False
    """Its elements are batches or numbers, of which fewer will do."""
    position: int = 0


@dataclass(slots=True, eq=False, repr=False)
class Accelerator:
    """An accelerate.Accelerator."""

    every: Value = 1
    turn: int = 0
    sync: bool = True
    last: bool = False
    unknown: bool = False


@dataclass(slots=True, eq=False, repr=False)
class Context:
    """What a `with` statement enters."""

    kind: str
    owner: Value = None


class Scope:
    """Names of one function call or one file."""

    __slots__ = ("declared", "names", "outer")

    def __init__(self, outer: Scope | None = None) -> None:
        self.outer = outer
        self.names: dict[str, Value] = {}
        self.declared: dict[str, Scope] = {}

    def find(self, name: str) -> Scope | None:
        """The scope that holds the name."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope
            scope = scope.outer
        return None


class Defaults(dict[Any, Value]):
    """A dictionary that makes what it does not have."""

    make: Callable[[], Value]


def flat(value: Value) -> list[Value]:
    """Everything inside nested containers."""
    if isinstance(value, (list, tuple)):
        return [item for one in value for item in flat(one)]
    if isinstance(value, dict):
        return [item for one in value.values() for item in flat(one)]
    return [value]
