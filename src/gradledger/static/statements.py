"""Statements in the small model."""

from __future__ import annotations

import ast
from typing import Any

from gradledger.ledger import events as ev
from gradledger.static.loops import Loops
from gradledger.static.reach import is_stranger, may_clear_around, turns
from gradledger.static.state import Leave, OutOfBudget, Way
from gradledger.static.values import ClassValue, Context, External, Function, Scope, Value


class Statements(Loops):
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

    def _define(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.scope.names[node.name] = self.function_value(node, None)

    def function_value(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, owner: ClassValue | None
    ) -> Function:
        """A function as its definition makes it."""
        made = Function(node, self.unit, self.scope, owner)
        spec = node.args
        if spec.defaults:
            made.defaults = tuple(self.evaluate(default) for default in spec.defaults)
        if spec.kw_defaults:
            made.keyword_defaults = tuple(
                self.unknown(name.arg) if default is None else self.evaluate(default)
                for name, default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
            )
        for decorator in reversed(node.decorator_list):
            text = self.unit.written(decorator)
            if isinstance(wrapper := self._decorator(decorator), Function):
                wrapped = self.apply(wrapper, [made], {}, node)
                if isinstance(wrapped, Function):
                    wrapped.owner = owner
                    made = wrapped
            elif text in (
                "staticmethod",
                "classmethod",
                "property",
                "cached_property",
                "functools.cached_property",
            ):
                made.kind = {"staticmethod": "static", "classmethod": "class"}.get(text, "property")  # type: ignore[assignment]
            elif "no_grad" in text or "inference_mode" in text:
                made.no_grad = True
            elif self.unit.acts(node.body) and not turns(node):
                name = decorator.func if isinstance(decorator, ast.Call) else decorator
                made.strange = made.strange or is_stranger(self.evaluate(name), text)
        return made

    def _decorator(self, node: ast.expr) -> Value:
        """What stands behind the @, if it is a function of the source."""
        name = node.func if isinstance(node, ast.Call) else node
        if not isinstance(name, ast.Name) or not isinstance(self.evaluate(name), Function):
            return None
        return self.evaluate(node)

    def _class(self, node: ast.ClassDef) -> None:
        bases = [self.evaluate(base) for base in node.bases]
        made = ClassValue(node, self.unit, self.scope, bases)
        for base in bases:
            name = base.name if isinstance(base, External) else ""
            made.is_module = made.is_module or name.endswith(
                ("Module", "PreTrainedModel", "Sequential", "ModuleList")
            )
            made.is_lightning = made.is_lightning or name.endswith("LightningModule")
            if isinstance(base, ClassValue):
                made.is_module = made.is_module or base.is_module
                made.is_lightning = made.is_lightning or base.is_lightning
        outer = self.scope
        for statement in node.body:
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                made.attrs[statement.name] = self.function_value(statement, made)
            elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                made.attrs[statement.targets[0].id] = self.evaluate(statement.value)
            elif (
                isinstance(statement, ast.AnnAssign)
                and isinstance(statement.target, ast.Name)
                and statement.value
            ):
                made.attrs[statement.target.id] = self.evaluate(statement.value)
        outer.names[node.name] = made

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

    def _match(self, node: Any) -> Way | None:
        subject = self.evaluate(node.subject)
        for case in node.cases:
            pattern = case.pattern
            value = getattr(pattern, "value", None)
            if isinstance(value, ast.expr):
                same = self.compare(ast.Eq(), subject, self.evaluate(value), value)
                known = self.known_truth(same)
                if known is None:
                    known = self.decide(
                        self.label(same),
                        value,
                        relevant=self.unit.touches_gradients(case.body),
                        default=False,
                    )
                if known:
                    return self.execute(case.body)
            elif type(pattern).__name__ == "MatchAs":
                return self.execute(case.body)
        return None

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
        try:
            way = self.execute(node.body)
            if way is None and node.orelse:
                way = self.execute(node.orelse)
        except Leave:
            if not node.handlers:
                raise
            way = self.execute(node.handlers[0].body)
        finally:
            if node.finalbody:
                last = self.execute(node.finalbody)
                way = last or way
        return way

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
        """Whether what is printed comes from an imported function that deals with gradients."""
        for name in self.unit.called_inside(node):
            home = self.scope.find(name)
            called = None if home is None else home.names[name]
            if isinstance(called, Function) and called.unit is not self.unit:
                body = called.node.body
                if isinstance(body, list) and called.unit.touches_gradients(body):
                    return True
        return False

    def _return(self, node: ast.Return) -> Way:
        self.returned = None if node.value is None else self._flag(node.value)
        return Way.RETURN

    def _raise(self, node: ast.Raise) -> None:
        raise Leave

    def _delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.scope.names.pop(target.id, None)

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
        return None


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
