"""A loop that is running, and the losses that are kept over its turns."""

from __future__ import annotations

import ast
from typing import Any

from gradledger.ledger.record import dataclass, field
from gradledger.ledger.site import Site
from gradledger.static.values import Tensor


@dataclass(slots=True)
class Turning:
    """A loop that is running."""

    node: ast.AST
    number: int
    loader: bool
    exact: bool
    relevant: bool
    endless: bool = False
    """Its turns are batches, numbers or time: fewer will do."""
    drawn: bool = False
    """A batch was taken and no pass has used it."""
    outer: bool = False
    """Another loop that matters runs inside."""
    guarded: bool = False
    """A counter decides which turns go on to the step."""
    micro: bool = False
    """Its head speaks of micro-batches."""
    closes: bool = False
    """No step is written inside: one that follows closes a window of its turns."""
    tasks: bool = False
    """Each turn has a source of its own: its losses are meant to add up."""
    members: bool = False
    """Each turn trains a model of its own: there are as many as there are models."""
    plan: int | str | None = None
    """How many turns it will have in the program, or the label of that number."""
    idle: bool = False
    """A loop that matters has run inside, and no pass."""
    length: int = 0
    """How many turns it has in the program, once it has ended."""
    label: str = ""
    turn: int = 0
    passes: int = 0
    steps: int = 0


@dataclass(slots=True)
class Keeping:
    """Losses that a variable keeps."""

    site: Site
    name: str
    owner: Any = None
    """What holds them; its identity must not be given to another."""
    loop: Turning | None = None
    """The loop in which it began to."""
    losses: list[tuple[Tensor, int]] = field(default_factory=list)
    """With the turn of the loop in which each was kept."""
    whole: list[int] = field(default_factory=list)
