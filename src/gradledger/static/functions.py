"""Functions, methods and context managers of the source."""

from __future__ import annotations

import ast
from typing import Any

from gradledger.static.unseen import Unseen
from gradledger.static.values import Args, Context, Function, Instance, Named, Scope, Value

DEEPEST = 30
"""How many calls inside one another are followed."""


class Functions(Unseen):
    """The part of the machine that runs functions."""

    def run_function(self, function: Function, args: Args, kwargs: Named, node: ast.AST) -> Value:
        """Call a function of the source, or find again what it has given for the same."""
        if function.known is None:
            return self._run_body(function, args, kwargs, node)
        key = (*map(_mark, args), *((name, _mark(value)) for name, value in kwargs.items()))
        if key not in function.known:
            function.known[key] = self._run_body(function, args, kwargs, node), (args, kwargs)
        value: Value = function.known[key][0]
        return value

    def _run_body(self, function: Function, args: Args, kwargs: Named, node: ast.AST) -> Value:
        code = function.node
        if self.depth >= DEEPEST or sum(running.node is code for running in self.running) >= 2:
            if self.depth >= DEEPEST and self._does_more(function):
                self.cut_short = True
            return self.through(args, kwargs, node)
        scope = Scope(function.scope)
        self._bind_arguments(function, scope, args, kwargs)
        self.ran.add(id(code))
        straight = self._is_plain_generator(function)
        if not isinstance(code, ast.Lambda) and not straight and _is_generator(function):
            if any("contextmanager" in function.unit.written(d) for d in code.decorator_list):
                return Context("source", (function, scope))
            if function.unit.touches_gradients(code.body):
                self.leave_alone()
            return self.unknown(f"{code.name}() {self.at(code)}")
        if (
            self.guests
            and function.owner is not None
            and not isinstance(code, ast.Lambda)
            and _is_empty(code)
        ):
            self.doubts.add("GL101")  # for subclasses to fill, which may clear
        if function.strange:
            self.doubts.update(("GL101", "GL401"))
        saved = self.scope, self.function, self.unit, self.returned
        self.scope, self.unit, self.returned = scope, function.unit, None
        self.function = getattr(code, "name", "<lambda>")
        self.depth += 1
        self.no_grad += function.no_grad
        self.running.append(function)
        try:
            if isinstance(code, ast.Lambda):
                return self.evaluate(code.body)
            if straight:
                return self._handed_out(code.body)
            self.execute(code.body)
            return self.returned
        finally:
            self.running.pop()
            self.no_grad -= function.no_grad
            self.depth -= 1
            self.scope, self.function, self.unit, self.returned = saved

    def _is_plain_generator(self, function: Function) -> bool:
        """Whether a function yields one thing after another and does nothing else to gradients."""
        code = function.node
        if isinstance(code, ast.Lambda) or not _is_generator(function):
            return False
        return _is_straight(code) and not self._does_more(function)

    def _handed_out(self, body: list[ast.stmt]) -> list[Value]:
        """What a generator yields that neither turns nor branches, one thing after another."""
        made: list[Value] = []
        for statement in body:
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Yield):
                given = statement.value.value
                made.append(None if given is None else self.evaluate(given))
            elif self.execute([statement]) is not None:
                break
        return made

    def _bind_arguments(self, function: Function, scope: Scope, args: Args, kwargs: Named) -> None:
        spec = function.node.args
        names = [*spec.posonlyargs, *spec.args]
        given = dict(kwargs)
        first = len(names) - len(function.defaults)
        for number, name in enumerate(names):
            if number < len(args):
                value = args[number]
            elif name.arg in given:
                value = given.pop(name.arg)
            elif number >= first and function.defaults and "**" not in given:
                value = function.defaults[number - first]
                if id(function.node) in self.guests and (value is None or type(value) is int):
                    value = self.parameter(name, function)
            else:
                value = self.parameter(name, function)
            scope.names[name.arg] = value
        for name, default in zip(spec.kwonlyargs, function.keyword_defaults, strict=False):
            told = default if "**" not in given else self.parameter(name, function)
            scope.names[name.arg] = given.pop(name.arg, told)
        if spec.vararg is not None:
            scope.names[spec.vararg.arg] = list(args[len(names) :])
        if spec.kwarg is not None:
            scope.names[spec.kwarg.arg] = given

    def parameter(self, name: ast.arg, function: Function) -> Value:
        """What arrives under a parameter's name when nobody in sight calls the function."""
        return self.unknown(name.arg, fleeting=False)

    def _method(self, owner: Value, function: Function, args: Args, kwargs: Named, node: ast.AST) -> Value:
        code = function.node
        if isinstance(code, ast.Lambda):
            return self.run_function(function, [owner, *args], kwargs, node)
        if isinstance(owner, Instance) and owner.cls.is_module and not self._does_more(function):
            if code.name in ("parameters", "named_parameters", "trainable_parameters"):
                return self.run_function(function, [owner, *args], kwargs, node)
            if code.name.startswith(
                (
                    "__init__",
                    "_init",
                    "init",
                    "freeze",
                    "unfreeze",
                    "build",
                    "configure",
                    "setup",
                    "set_",
                    "get_",
                    "requires",
                )
            ):
                return self.run_function(function, [owner, *args], kwargs, node)
            if "return" not in function.unit.segment(code.body):
                return self.run_function(function, [owner, *args], kwargs, node)
            if "param" in code.name or "parameters(" in function.unit.segment(code.body):
                return self.run_function(function, [owner, *args], kwargs, node)
            self.no_grad += function.no_grad
            try:
                return self.forward(owner, args, kwargs, node, code.name)
            finally:
                self.no_grad -= function.no_grad
        return self.run_function(function, [owner, *args], kwargs, node)

    def _does_more(self, function: Function) -> bool:
        """Whether a method of a model does more than compute: it steps, clears or freezes."""
        body = function.node.body
        return isinstance(body, list) and function.unit.touches_gradients(body)

    def around_yield(self, context: Context, *, before: bool) -> None:
        """Run the part of a context manager's function before or after its yield."""
        function, scope = context.owner
        body = function.node.body
        saved = self.scope, self.function, self.unit
        self.scope, self.unit, self.function = scope, function.unit, function.node.name
        try:
            self._part(body, before=before)
        finally:
            self.scope, self.function, self.unit = saved

    def _part(self, body: list[ast.stmt], *, before: bool, start: int = 0) -> bool:
        """Whether the yield was met; a condition around it decides which one it is."""
        at = next((i for i, s in enumerate(body) if i >= start and _yields(s)), None)
        if at is None:
            if before:
                self.execute(body[start:])
            return False
        statement = body[at]
        if before:
            self.execute(body[start:at])
        if isinstance(statement, ast.If):
            arm = statement.body if self.truth(statement.test, relevant=True) else statement.orelse
            if not self._part(arm, before=before):
                return self._part(body, before=before, start=at + 1)
            if not before:
                self.execute(body[at + 1 :])
            return True
        inner = getattr(statement, "body", None)
        if isinstance(statement, ast.With):
            for item in statement.items:
                value = self.evaluate(item.context_expr)
                if before:
                    self.enter(value, item.context_expr)
                else:
                    self.leave(value, item.context_expr)
        if isinstance(inner, list) and isinstance(statement, (ast.Try, ast.With)):
            self._part(inner, before=before)
        if not before:
            if isinstance(statement, ast.Try):
                self.execute(statement.finalbody)
            self.execute(body[at + 1 :])
        return True


def _mark(value: Value) -> Any:
    """What tells one argument from another."""
    return value if isinstance(value, (str, int, float, type(None))) else id(value)


def _yields(node: ast.AST) -> bool:
    return any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in ast.walk(node))


def _is_generator(function: Function) -> bool:
    body = function.node.body
    return (
        isinstance(body, list)
        and "yield" in function.unit.segment(body)
        and any(
            isinstance(node, (ast.Yield, ast.YieldFrom))
            for statement in body
            for node in ast.walk(statement)
            if not isinstance(statement, (ast.FunctionDef, ast.ClassDef))
        )
    )


def _is_straight(code: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether each yield of a generator is a statement of its own, outside of loops and conditions."""
    return not code.decorator_list and all(
        isinstance(s, ast.Expr)
        and isinstance(s.value, ast.Yield)
        and not (s.value.value is not None and _yields(s.value.value))
        for s in code.body
        if _yields(s)
    )


def _is_empty(code: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> bool:
    """Whether a function does nothing."""
    if isinstance(code, ast.Lambda):
        return False
    return all(
        isinstance(s, ast.Pass) or (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))
        for s in code.body
    )
