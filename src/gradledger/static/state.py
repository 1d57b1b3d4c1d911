"""All that one attempt to execute a program in the small model holds, and the events it writes down."""

from __future__ import annotations

import ast
import re
from typing import Any
from zlib import crc32

from gradledger.ledger import events as ev
from gradledger.ledger.site import Site
from gradledger.static.box import Box
from gradledger.static.leaving import OutOfBudget
from gradledger.static.scale import Learnt, Scale
from gradledger.static.turning import Keeping, Turning
from gradledger.static.unit import Unit
from gradledger.static.values import (
    NOTHING,
    Accelerator,
    Accounts,
    Bound,
    External,
    Function,
    Instance,
    Loader,
    Model,
    Optimizer,
    Parameters,
    Scaler,
    Scope,
    Tensor,
    Unknown,
    Value,
)

_EMPTY = frozenset((type(None), bool, int, float, str, Bound, External, Function, Optimizer))
"""What certainly holds no parameters of a model; most attributes of objects are such."""

_NO_OUTPUT = r"(?i)^elt\(|arg|conf|cfg|param|option|setting|flag"
"""Batches, and what settings are called: neither is the output of a model."""

LONGEST_LABEL = 160


class State:
    """Shared by all parts of the machine."""

    def __init__(self, unit: Unit, scale: Scale, forced: tuple[bool, ...], budget: int) -> None:
        self.unit = unit
        self.scale = scale
        self.learnt = Learnt()
        self.budget = budget
        self.events: list[ev.Event] = []
        self.cut_short = False
        """Something that matters was not followed."""
        self.forced = forced
        self.choices: list[bool] = []
        self.weights: list[bool] = []
        """For each choice, whether it decides about a clearing."""
        self.asked: list[str] = []  # for each choice, the place of its condition
        self.weighty = False
        self.decided: dict[str, bool] = {}
        self.scope = Scope()
        self.function = "<module>"
        self.depth = 0
        self.no_grad = 0
        self.serial = 0
        self.boxes: dict[int, Box] = {}
        self.frozen: set[int] = set()
        self.unknowns: dict[str, Unknown] = {}
        self.roles: dict[str, Value] = {}
        self.optimizers: list[Optimizer] = []
        self.scalers: list[Scaler] = []
        self.loops: list[Turning] = []
        self.ifs: list[tuple[ast.AST, bool]] = []
        self.outcomes: dict[int, set[bool]] = {}
        self.stepping_ifs: dict[int, set[int]] = {}
        """The conditions around an optimizer's steps."""
        self.advancing_ifs: dict[int, set[int]] = {}
        """Those around the advances of its schedule."""
        self.roots: dict[int, Site] = {}
        self.turns = 0
        self.rooted: dict[int, tuple[int, ...]] = {}
        """In which turns of the loops around it a backward() ran."""
        self.covered: set[int] = set()
        self.inside: set[int] = set()
        """Tensors below the roots of passes."""
        self.retained: set[int] = set()
        self.agents: dict[int, list[Value]] = {}
        """What something unseen made of models, by its serial."""
        self.obscure: set[int] = set()
        """Tensors that came out of something unseen."""
        self.keepings: dict[tuple[Site, int], Keeping] = {}
        self.kept_names: set[str] = set()
        self.bounded: set[Site] = set()
        """Where losses are kept for a while only."""
        self.doubts: set[str] = set()
        self.partook: set[int] = set()
        """Accounts whose parameters took part in a forward pass."""
        self.severed: set[int] = set()
        """Those of which something computed was taken out of its graph."""
        self.accumulating: list[Accelerator] = []
        self.called: dict[int, int] = {}
        self.running: list[Function] = []
        self.ran: set[int] = set()
        self.guarding = False
        self.built_in_loop: dict[int, int] = {}
        self.hooked = False
        self.inherited: set[str] = set()
        """Methods that objects of the source have from a class that is not in sight."""
        self.ambiguous = False
        self.guessed = False
        """A backward() was taken to reach what could not be seen to be reached."""
        self.passless = not unit.differentiates
        """The file itself differentiates nothing."""
        self.computed = False
        """A model was used with gradients enabled."""
        self.discarding: ast.AST | None = None
        """The call whose result nobody uses."""
        self.unlinked: set[str] = set()
        """Rules that would need to know more than can be seen here."""
        self.guests: set[int] = set()
        """Functions that nobody in sight calls: their defaults are only proposals."""
        self.used: dict[int, Value] = {}
        self.filled: Turning | None = None
        """The innermost loop around the last backward()."""
        self.taken_out = False
        """A scaler has divided its scale out since the last pass."""
        self.presumed_at: set[Site] = set()
        """Passes of which it is presumed what they reach."""
        self.strangers: set[Accounts] = set()
        """For each pass, the unseen models that it goes through."""
        self.early_steps: list[tuple[Site, Accounts]] = []
        """Steps of optimizers that no pass had come before."""
        self.lent = False
        """Something unseen was given what models have computed, and may give it back."""
        self.copied_at: set[tuple[str, int]] = set()
        """Lines that gave one model the weights of another."""
        self.starts: list[Accounts] = []
        """Models that were loaded before any pass through them."""
        self.bereaved: dict[int, Accounts] = {}
        """The parameters that an optimizer holds of a model whose name was given to another."""
        self.stood_for: dict[int, set[int]] = {}
        """The models out of sight that passes reached, by the account of the optimizer taken to hold them."""
        self.read_at: set[Site] = set()
        """Where gradients were read."""
        self.looked_at: set[int] = set()
        """Accounts whose gradients were read since they were filled."""
        self.lent_out: set[int] = set()
        """Those of models that something unseen was given since their optimizer's step: it may fill them."""

    # -- making values ------------------------------------------------------------------------------------

    def fresh(self) -> int:
        """A number nobody has."""
        self.serial += 1
        return self.serial

    def unknown(self, label: str, *, fleeting: bool | None = None) -> Unknown:
        """The unknown value of this label."""
        if len(label) > LONGEST_LABEL:
            # Shorter, and still the same for the same; "@" goes on to say that a call has made it.
            made = "@" if "@" in label else ""
            label = f"?{crc32(label.encode('utf-8', 'replace'))}{made}.{label[-40:].rpartition('.')[2]}"
        known = self.unknowns.get(label)
        if known is None:
            known = self.unknowns[label] = Unknown(label)
            known.fleeting = bool(self.loops) if fleeting is None else fleeting
        return known

    def at(self, node: ast.AST) -> str:
        """A label for what a node yields."""
        return f"@{self.unit.tag}:{node.lineno}:{node.col_offset}"  # type: ignore[attr-defined]

    def site(self, node: ast.AST) -> Site:
        """Where a node is."""
        return self.unit.site(node, self.function)

    def tensor(self, *origins: Value, **facts: Any) -> Tensor:
        """A tensor computed from others."""
        deps: Accounts = NOTHING
        parts: frozenset[int] = frozenset()
        opaque = False
        reduced: bool | None = None
        scaled: int | None = None
        cut = hazy = False
        rows: int | None = None
        tracked = not self.no_grad
        count: int | None = None
        for origin in origins:
            if isinstance(origin, Tensor):
                cut = cut or origin.cut
                hazy = hazy or origin.hazy
                if origin.leaf is not None:
                    self.boxes[origin.leaf].sure = True
                deps = deps | origin.deps if deps else origin.deps
                parts = parts.union(origin.parts, (origin.serial,)) if tracked else parts
                opaque = opaque or origin.opaque
                if origin.reduced is not None:
                    reduced = origin.reduced
                scaled = origin.scaled_by if scaled is None else scaled
                rows = origin.rows if rows is None else rows
                count = origin.count if count in (None, origin.count) else 0
            elif isinstance(origin, Unknown):
                hazy = hazy or ("(" in origin.label and not re.search(_NO_OUTPUT, origin.label))
                if origin.role == "leaf" and origin.account is not None:
                    deps = deps | {origin.account}
            elif isinstance(origin, Parameters) and not origin.data:
                deps = deps | self.live(origin.accounts)
        if not tracked:
            cut = cut or bool(deps)
            deps = NOTHING
        if len(parts) > 60:
            parts = frozenset(sorted(parts)[-40:])
        made = Tensor(
            self.fresh(), deps, parts, opaque=opaque, reduced=reduced, scaled_by=scaled, cut=cut, rows=rows
        )
        made.count, made.hazy = count, hazy
        for name, value in facts.items():
            setattr(made, name, value)
        if made.made_of:
            self.looked_at |= made.made_of
        if made.deps:
            self.partook.update(made.deps)
        return made

    # -- accounts -----------------------------------------------------------------------------------------

    def open_account(self, name: str, site: Site | None, *, opaque: bool = False, data: bool = False) -> int:
        """An account for parameters that came into view."""
        number = self.fresh()
        self.boxes[number] = Box(name, opaque, data, content="unknown" if opaque else "none")
        self.events.append(
            ev.AccountOpened(site, number, 1, (name,) if name else (), trainable=not data, training=True)
        )
        return number

    def model_account(self, value: Unknown) -> int:
        """The account of something unseen that is used as a model."""
        if value.account is None:
            value.account = self.open_account(value.label, None, opaque=True)
            part = value
            while part.of is not None and part.of.attrs.setdefault(part.asked, part) is part:
                part = part.of  # so that a whole has its parts' parameters, too
        return value.account

    def accounts_of(self, value: Value, seen: set[int] | None = None, *, hidden: bool = False) -> Accounts:
        """The accounts of all parameters inside a model; with the hidden ones, those in plain lists, too."""
        kind = type(value)
        if kind in _EMPTY:
            return NOTHING
        if kind is Model and not value.children and not value.attrs:
            return NOTHING if value.account is None else frozenset((value.account,))
        seen = set() if seen is None else seen
        if id(value) in seen:
            return NOTHING
        seen.add(id(value))
        found: Accounts = NOTHING
        match value:
            case Model():
                if value.account is not None:
                    found = frozenset((value.account,))
                for child in (*value.children, *value.attrs.values()):
                    found |= self.accounts_of(child, seen, hidden=hidden)
            case Instance() if value.cls.is_module:
                for child in value.attrs.values():
                    if hidden or not isinstance(child, (list, tuple, dict)):
                        found |= self.accounts_of(child, seen, hidden=hidden)
                if value.cls.bases and "own" in value.attrs:
                    found |= frozenset((value.attrs["own"],))
            case Tensor(leaf=int()):
                found = frozenset((value.leaf,))  # type: ignore[arg-type]
            case Unknown() if value.account is not None:
                found = frozenset((value.account,))
                for child in value.attrs.values():
                    found |= self.accounts_of(child, seen)
            case list() | tuple() | dict():
                for child in value.values() if isinstance(value, dict) else value:
                    found |= self.accounts_of(child, seen)
        return found

    def live(self, accounts: Accounts) -> Accounts:
        """Those that are not frozen."""
        return accounts - self.frozen if self.frozen else accounts

    # -- decisions ----------------------------------------------------------------------------------------

    def decide(self, label: str, node: ast.AST, *, relevant: bool, default: bool) -> bool:
        """Which way an unknown condition goes on this path; equal conditions go the same way."""
        if "parameter name" in label:
            # Only some parameters are meant, and which ones cannot be told.
            self.unlinked.update(("GL101", "GL102", "GL103", "GL401"))
        known = self.decided.get(label)
        if known is not None:
            return known
        place = self.at(node)
        known = self.decided.get(place)
        if known is None:
            known = default
            if relevant:
                if len(self.choices) < len(self.forced):
                    known = self.forced[len(self.choices)]
                self.choices.append(known)
                self.weights.append(self.weighty)
                self.asked.append(place)
        self.decided[label] = self.decided[place] = known
        return known

    def spend(self, amount: int = 1) -> None:
        """Count work; there is an end to it."""
        self.budget -= amount
        if self.budget < 0:
            raise OutOfBudget

    # -- loops --------------------------------------------------------------------------------------------

    def loader(self, length: int | None = None, rows: int | None = None, batch: int | None = None) -> Loader:
        """A source of batches."""
        return Loader(self.fresh(), length, rows, batch)

    @property
    def windowed(self) -> bool:
        """Whether a counter guards the line that runs now."""
        for node, counted in self.ifs:
            if counted and (len(self.outcomes.get(id(node), ())) > 1 or _counts(node)):
                return True
        if any(loop.guarded for loop in self.loops[-1:]):
            return True
        return self.filled is not None and self.filled.micro and self.filled not in self.loops


def _counts(node: ast.AST) -> bool:
    test = getattr(node, "test", node)
    return any(isinstance(part, ast.Mod) for part in ast.walk(test))
