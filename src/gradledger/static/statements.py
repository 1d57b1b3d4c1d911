"""Statements in the small model."""

from __future__ import annotations

import ast
import builtins
from typing import Any

from gradledger.ledger import events as ev
from gradledger.static.definitions import Definitions
from gradledger.static.leaving import Leave, OutOfBudget, Way
from gradledger.static.reach import may_clear_around
from gradledger.static.values import (
    Bound,
    Builtin,
    ClassValue,
    Context,
    External,
    Function,
    Instance,
    Scope,
    Value,
)


class Statements(Definitions):
    """The part of the machine that executes."""

    returned: Value = None

    def execute(self, body: list[ast.stmt]) -> Way | None:
        """Run statements until one leaves."""
        for node in body:
            self.budget -= 1
            if self.budget < 0:
                raise OutOfBudget
            handler = _HANDLERS.get(type(node))
            if handler is not None:
                way: Way | None = handler(self, node)
                if way is not None:
                    return way
        return None

    def _if(self, node: ast.If) -> Way | None:
        unit = self.unit
        relevant = unit.touches_gradients(node.body) or unit.touches_gradients(node.orelse)
        leaving = unit.leaves(node.body)
        if leaving and (self.loops or self.running) and self._here_matters():
            relevant = True
        # The arm that goes on is the likelier one.
        default = not (leaving and not unit.leaves(node.orelse))
        if relevant and self._would_stop_early(node):
            relevant = False
        before, self.guarding = self.guarding, relevant
        self.weighty = relevant and (unit.clears(node.body) or unit.clears(node.orelse))
        choices = len(self.decided)
        try:
            taken = self.truth(node.test, relevant=relevant, default=default)
        finally:
            self.guarding = before
        concrete = len(self.decided) == choices
        if relevant and isinstance(node.test, ast.BoolOp) and (not concrete or self.outcomes.get(-id(node))):
            # Something unseen may also close the last window.
            self.outcomes[-id(node)] = {True}
            self.unlinked.add("GL202")
        self.outcomes.setdefault(id(node), set()).add(taken)
        if concrete and leaving and relevant and self.loops and len(self.outcomes[id(node)]) > 1:
            self.loops[-1].guarded = True
        self.ifs.append((node, concrete and taken))
        try:
            return self.execute(node.body if taken else node.orelse)
        finally:
            self.ifs.pop()

    def _would_stop_early(self, node: ast.If) -> bool:
        """Whether it would end a loop that trains after its first step: such a loop is made to turn again."""
        if not isinstance(node.body[-1], ast.Break) or not self.loops or not self.loops[-1].steps:
            return False
        return not (self.unit.acts(node.body) or self.unit.acts(node.orelse))

    def _here_matters(self) -> bool:
        """Whether the function or loop that runs now deals with gradients."""
        if self.running:
            node = self.running[-1].node
            return isinstance(node, ast.Lambda) or self.unit.touches_gradients(node.body)
        return any(loop.relevant for loop in self.loops)

    def _with(self, node: ast.With | ast.AsyncWith) -> Way | None:
        entered: list[Value] = []
        try:
            for item in node.items:
                value = self.evaluate(item.context_expr)
                self._beware(value, item.context_expr)
                bound = self.enter(value, item.context_expr)
                entered.append(value)
                if item.optional_vars is not None:
                    self.bind(item.optional_vars, bound)
            return self.execute(node.body)
        finally:
            for value in reversed(entered):
                self.leave(value, node)

    def _beware(self, value: Value, node: ast.expr) -> None:
        """A context that is not in sight may clear what it was given."""
        if self.loops and isinstance(node, ast.Call):
            named = [part for part in node.args if isinstance(part, (ast.Name, ast.Attribute))]
            given = [self.evaluate(part) for part in named]
            if may_clear_around(value, self.unit.written(node.func), given):
                self.doubts.update(("GL101", "GL401"))
            if any(getattr(part, "replicated", False) for part in given) and not isinstance(value, Context):
                self.doubts.update(("GL501", "GL502"))

    def _try(self, node: Any) -> Way | None:
        way: Way | None = None
        if any(_answers_lookup(handler) and self.unit.clears(handler.body) for handler in node.handlers):
            self.doubts.update(("GL101", "GL401"))  # whether something is missing cannot be told
        try:
            way = self.execute(node.body)
            if way is None and node.orelse:
                way = self.execute(node.orelse)
        except Leave as left:
            handler = self._handler(node.handlers, left)
            if handler is None:
                raise
            way = self.execute(handler.body)
        finally:
            if node.finalbody:
                last = self.execute(node.finalbody)
                way = last or way
        return way

    def _handler(self, handlers: list[ast.ExceptHandler], left: Leave) -> ast.ExceptHandler | None:
        """The handler that takes what was raised; the first one, if what was raised is not known."""
        if left.raised is None or not handlers:
            return handlers[0] if handlers else None
        cls = left.raised
        if isinstance(cls, ClassValue):
            names = {one.node.name for one in cls.lineage()}
            bases = [base for one in cls.lineage() for base in one.bases]
        else:
            names, bases = set(), [cls]
        for base in bases:
            name = base.name if isinstance(base, External) else self.label(base)
            known = getattr(builtins, name.rpartition(".")[2], None)
            names |= {one.__name__ for one in known.__mro__} if isinstance(known, type) else {name}
        for handler in handlers:
            wanted = [] if handler.type is None else _names(handler.type)
            if handler.type is None or not (names | {"Exception", "BaseException"}).isdisjoint(wanted):
                return handler
        return None

    def _expression(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant) or (self.unit.inert(node) and not self._trains_inside(node)):
            return
        value = node.value
        if isinstance(value, ast.Attribute) and value.attr == "zero_grad":
            self.events.append(ev.ClearNotCalled(self.site(value), ast.unparse(value)))
            return
        self.discarding = value if isinstance(value, ast.Call) else None
        self.evaluate(value)

    def _trains_inside(self, node: ast.Expr) -> bool:
        """Whether what is printed comes from something that deals with gradients, whatever its name."""
        itself = self.scope.find("self")
        fields = None if itself is None else itself.names["self"]
        for name in self.unit.called_inside(node):
            home = self.scope.find(name)
            if home is not None:
                called = home.names[name]
            else:
                called = fields.attrs.get(name) if isinstance(fields, Instance) else None
            if isinstance(called, ClassValue) and any(map(_calls_at_once, ast.walk(node))):
                return isinstance(called.find("__call__"), Function)
            if isinstance(called, Instance) and not called.cls.is_module:
                return isinstance(called.cls.find("__call__"), Function)
            if isinstance(called, Builtin) and called.name == "partial":
                return True
            if isinstance(called, Bound):
                called = called.target
            body = called.node.body if isinstance(called, Function) else None
            if (
                isinstance(called, Function)
                and isinstance(body, list)
                and called.unit.touches_gradients(body)
            ):
                return True
        return False

    def _return(self, node: ast.Return) -> Way:
        self.returned = None if node.value is None else self.flag(node.value)
        return Way.RETURN

    def _raise(self, node: ast.Raise) -> None:
        kind = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        raise Leave(None if kind is None else self.evaluate(kind))

    def _delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.scope.names.pop(target.id, None)
            elif isinstance(target, ast.Attribute):
                self.delete_attribute(self.evaluate(target.value), target.attr, target)
            elif isinstance(target, ast.Subscript):
                self._delete_item(self.evaluate(target.value), target)

    def _global(self, node: ast.Global | ast.Nonlocal) -> None:
        for name in node.names:
            scope: Scope | None = self.scope.outer
            home = scope.find(name) if scope is not None else None
            if home is None:
                home = self.scope
                while home.outer is not None:
                    home = home.outer
            self.scope.declared[name] = home

    def _assert(self, node: ast.Assert) -> None:
        if self.unit.acts([node]):
            self.evaluate(node.test)


def _names(node: ast.expr) -> list[str]:
    """The last parts of the names in an expression."""
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    return [ast.unparse(part).rpartition(".")[2] for part in parts]


def _answers_lookup(handler: ast.ExceptHandler) -> bool:
    """Whether a handler is for names, keys or values that Python itself looks for and does not find."""
    return handler.type is not None and not _LOOKUPS.isdisjoint(_names(handler.type))


_LOOKUPS = frozenset(
    [
        "AttributeError",
        "KeyError",
        "ImportError",
        "IndexError",
        "LookupError",
        "ModuleNotFoundError",
        "NameError",
        "TypeError",
        "ValueError",
    ]
)

_HANDLERS: dict[type, Any] = {
    ast.Assign: Statements._assign,
    ast.AnnAssign: Statements._annotated,
    ast.AugAssign: Statements._augmented,
    ast.Expr: Statements._expression,
    ast.FunctionDef: Statements._define,
    ast.AsyncFunctionDef: Statements._define,
    ast.ClassDef: Statements._class,
    ast.If: Statements._if,
    ast.For: Statements._for,
    ast.AsyncFor: Statements._for,
    ast.While: Statements._while,
    ast.With: Statements._with,
    ast.AsyncWith: Statements._with,
    ast.Try: Statements._try,
    ast.Return: Statements._return,
    ast.Raise: Statements._raise,
    ast.Break: lambda self, node: Way.BREAK,
    ast.Continue: lambda self, node: Way.CONTINUE,
    ast.Import: lambda self, node: self.import_module(node),
    ast.ImportFrom: lambda self, node: self.import_module(node),
    ast.Delete: Statements._delete,
    ast.Global: Statements._global,
    ast.Nonlocal: Statements._global,
    ast.Assert: Statements._assert,
}


for _name, _handler in (("Match", Statements._match), ("TryStar", Statements._try)):
    if hasattr(ast, _name):
        _HANDLERS[getattr(ast, _name)] = _handler


def _calls_at_once(node: ast.AST) -> bool:
    """`Class(…)(…)`."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Call)
