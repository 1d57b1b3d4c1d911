"""One attempt: a program executed once in the small model, along one path."""

from __future__ import annotations

import ast
import re
from contextlib import suppress

from gradledger.ledger import events as ev
from gradledger.ledger.record import dataclass
from gradledger.static.endings import Endings
from gradledger.static.imports import FindModule
from gradledger.static.leaving import Crash, Leave, OutOfBudget
from gradledger.static.reach import turns
from gradledger.static.scale import EPOCHS, Scale
from gradledger.static.turning import Turning
from gradledger.static.unit import CALLED, FunctionNode, Unit
from gradledger.static.values import (
    ClassValue,
    Function,
    Instance,
    Namespace,
    Optimizer,
    Scope,
    Unknown,
    Value,
)

_COUNTERS = frozenset(
    {
        "batch_idx",
        "batch_index",
        "batch_nb",
        "i",
        "idx",
        "step",
        "iteration",
        "iter",
        "it",
        "n_iter",
        "batch_no",
    }
)
_CLEARED = re.compile(r"([\w.\[\]]*?)\.?zero_grad\b")
_FAULTS = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)
BUDGET = 60_000
"""How many expressions one attempt evaluates at most."""


@dataclass(frozen=True, slots=True)
class Start:
    """Where an attempt begins: the whole file, or one function that nobody in the file calls."""

    function: str | None = None
    owner: str | None = None


class Machine(Endings):
    """All parts together."""

    def __init__(
        self,
        unit: Unit,
        scale: Scale,
        forced: tuple[bool, ...],
        find_module: FindModule | None,
        units: dict[str, Unit | None],
    ) -> None:
        super().__init__(unit, scale, forced, BUDGET)
        self.find_module = find_module
        self.units = units
        self.alone = False
        # A module that imports the file back gets what the file has defined so far.
        self.modules = {unit.path: Namespace(unit, self.scope)}

    def run(self, start: Start) -> None:
        """Execute from the start to the end of the program."""
        try:
            with suppress(Leave):
                self._run(start)
        except (OutOfBudget, RecursionError):
            self.cut_short = True
        except _FAULTS:
            # Nobody loses the rest of a check to a program that this model misunderstands.
            self.cut_short = True
        self.admit_blindness()
        self.admit_company()
        for unit in (self.unit, *self.units.values()):
            if unit is not None and not unit.copies <= self.copied_at:
                self.doubts.add("GL402")  # now and then another's weights are put somewhere
        self.alone = start.function is not None and not self._has_a_trainer(start)
        if start.function is not None:
            self._admit_callers(start)
        self.say_what_was_replaced()
        self.settle_windows()
        self.say_what_is_kept()
        self.forgive_unsure()
        self.forgive_late_steps()
        self.forgive_shows()
        self.withdraw_untold()
        self.events.append(ev.RunEnded(None, complete=not self.alone and not self.cut_short))

    def _run(self, start: Start) -> None:
        tree = self.unit.tree
        if start.function is None:
            self.execute(tree.body)
            return
        self._define_all(tree.body)
        if start.owner is None:
            function = self.scope.names.get(start.function)
            if isinstance(function, Function):
                self.guests.add(id(function.node))
                self._forget_contents()
                self._repeat(function, [])
            return
        cls = self.scope.names.get(start.owner)
        if isinstance(cls, ClassValue):
            for name in ("__init__", start.function):
                method = cls.find(name)
                self.guests.update([id(method.node)] if isinstance(method, Function) else [])
            instance = self.instantiate(cls, [], {}, cls.node)
            function = cls.find(start.function)
            if isinstance(function, Function) and isinstance(instance, Instance):
                self._forget_contents()
                self._repeat(function, [] if function.kind == "static" else [instance])

    def _forget_contents(self) -> None:
        """Whoever calls a function may have filled the gradients before."""
        for box in self.boxes.values():
            box.content = "unknown"

    def _define_all(self, body: list[ast.stmt]) -> None:
        """The definitions, imports and plain assignments of a file, without what it does."""
        for node in body:
            if isinstance(
                node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
            ) or (isinstance(node, (ast.Assign, ast.AnnAssign)) and not self.unit.acts([node])):
                self.execute([node])
            elif isinstance(node, (ast.If, ast.Try)) and any(
                isinstance(s, (ast.Import, ast.ImportFrom)) for s in node.body
            ):
                self._define_all(node.body)

    def _admit_callers(self, start: Start) -> None:
        """Other functions, called by whoever calls this one, may do what is missing here."""
        if start.owner is None and all(_inside(optimizer, start.function) for optimizer in self.optimizers):
            return
        for node, owner in self.unit.functions:
            if id(node) in self.ran or (start.owner is not None and owner is None):
                continue
            text = self.unit.segment(node.body)
            clears = "zero_grad" in text or "zero_(" in text or ".grad = None" in text
            if clears and not (owner is not None and self._minds_its_own(owner, text, start)):
                self.unlinked.update(("GL101", "GL401"))
            if ".update(" in text:
                self.unlinked.add("GL303")
            if "backward(" in text:
                self.unlinked.add("GL106")
            if ".step(" in text:
                self.unlinked.add("GL404")

    def _has_a_trainer(self, start: Start) -> bool:
        """Whether the caller is Lightning's trainer, which adds no optimizer and no model of its own."""
        cls = self.scope.names.get(start.owner or "")
        return isinstance(cls, ClassValue) and cls.is_lightning

    def _minds_its_own(self, owner: ast.ClassDef, text: str, start: Start) -> bool:
        """Whether a method of an unrelated class clears nothing but the optimizers that its class builds."""
        one, other = (self.scope.names.get(name or "") for name in (start.owner, owner.name))
        if not isinstance(one, ClassValue) or not isinstance(other, ClassValue) or other.node is not owner:
            return False
        if one in other.lineage() or other in one.lineage() or re.search(r"\bzero_\(|\.grad = None", text):
            return False
        cleared = _CLEARED.findall(text)
        whole = self.unit.segment(owner.body)
        return all(
            name.startswith("self.")
            and re.search(rf"{re.escape(name)}\s*=[^=\n]*\b(?:optim\.)?[A-Z]\w*\(", whole)
            for name in cleared
        )

    def _repeat(self, function: Function, first: list[Value]) -> None:
        """A function that its callers will call again and again."""
        code = function.node
        assert isinstance(code, FunctionNode)
        if turns(code):
            for _ in range(EPOCHS):
                self._once(function, first, {})
                if self._built_here(code.name):
                    return
            return
        if function.owner is None or not function.owner.is_lightning:
            # The loop is elsewhere, and may clear.
            self.doubts.add("GL101")
        # Its batches are counted, if the function wants to know.
        loader = self.loader()
        counters = [argument.arg for argument in code.args.args if argument.arg in _COUNTERS]
        for _ in range(EPOCHS):
            loop = Turning(code, loader.number, loader=True, exact=False, relevant=True, endless=True)
            self.loops.append(loop)
            for turn in range(self.scale.batches):
                loop.drawn = True
                self.turns += 1
                loop.turn = self.turns
                self._once(function, first, dict.fromkeys(counters, turn))
                if self._built_here(code.name):
                    self.loops.pop()
                    return
            self.loops.pop()
            self.doubts.add("GL202")
            self.events.append(ev.EpochEnded(self.site(code), loader.number))

    def _built_here(self, name: str) -> bool:
        """Whether the function builds what it trains: its next call has nothing to do with this one."""
        return bool(self.optimizers) and all(_inside(optimizer, name) for optimizer in self.optimizers)

    def _once(self, function: Function, first: list[Value], named: dict[str, Value]) -> None:
        try:
            self.run_function(function, list(first), dict(named), function.node)
        except Crash:
            raise
        except Leave:
            return


def _inside(optimizer: Optimizer, function: str | None) -> bool:
    """Whether the function itself built the optimizer, so that nobody else can clear it."""
    return optimizer.site is not None and optimizer.site.function == function


def starts(unit: Unit, ran: set[int]) -> list[Start]:
    """The functions that deal with gradients, that nobody in the file calls and that have not run."""
    names = unit.relevant_names
    found: list[Start] = []
    called: dict[str, int] = {}
    for node, _ in unit.functions:
        if node.name in names and node not in unit.nested:
            inside = set(CALLED.findall(unit.segment(node.body)))
            for name in inside & names - {node.name}:
                called[name] = called.get(name, 0) + 1
    for node, owner in unit.functions:
        if node.name not in names or id(node) in ran or node in unit.nested or node.name.startswith("__"):
            continue
        if node.name not in called:
            found.append(Start(node.name, None if owner is None else owner.name))
    # Where there is more than can be followed, functions that step come before those that only differentiate.
    steps = {node.name for node, _ in unit.functions if "step" in unit.segment(node.body)}
    return sorted(found, key=lambda start: start.function not in steps)


__all__ = ["Machine", "Scope", "Start", "Unknown", "starts"]
