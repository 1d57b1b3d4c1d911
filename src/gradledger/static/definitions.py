"""Functions and classes as their definitions make them, with what stands around them."""

from __future__ import annotations

import ast
import re

from gradledger.static.matching import Matching
from gradledger.static.reach import is_stranger, turns
from gradledger.static.values import Bound, ClassValue, External, Function, Instance, Scope, Value

_KINDS = {
    "staticmethod": "static",
    "classmethod": "class",
    "property": "property",
    "cached_property": "property",
    "functools.cached_property": "property",
}
_REMEMBERS = re.compile(r"(?:functools\.)?(?:lru_cache|cache|cached_property)(?:\(.*\))?")
_CALLED = frozenset(
    [
        "__init__",
        "__post_init__",
        "__call__",
        "__enter__",
        "__exit__",
        "__iter__",
        "__next__",
        "__getitem__",
        "__getattr__",
    ]
)
"""Methods that the machine runs, or looks after, where Python would."""


class Definitions(Matching):
    """The part of the machine that defines."""

    making: tuple[Scope, ClassValue] | None = None
    """The class whose body runs, and its names."""

    def _define(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        if self.making is not None and self.scope is self.making[0]:
            self._class_function(node, self.making[1])
        else:
            self.scope.names[node.name] = self.function_value(node, None)

    def function_value(self, node: ast.FunctionDef | ast.AsyncFunctionDef, owner: ClassValue | None) -> Value:
        """What a definition makes: a function, or what its decorators make of it."""
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
            if _REMEMBERS.fullmatch(text):
                made.known = {}
            if (wrapper := self._decorator(decorator)) is not None:
                wrapped = self.apply(wrapper, [made], {}, node)
                if isinstance(wrapped, Function):
                    wrapped.owner = owner
                    made = wrapped
                elif isinstance(wrapped, Instance):
                    return wrapped
            elif text in _KINDS:
                made.kind = _KINDS[text]  # type: ignore[assignment]
            elif "no_grad" in text or "inference_mode" in text:
                made.no_grad = True
            elif self.unit.acts(node.body) and not turns(node):
                name = decorator.func if isinstance(decorator, ast.Call) else decorator
                made.strange = made.strange or is_stranger(self.evaluate(name), text)
        return made

    def _decorator(self, node: ast.expr) -> Value:
        """What stands behind the @, if it is a function or a class of the source."""
        name = node.func if isinstance(node, ast.Call) else node
        if not isinstance(name, ast.Name) or not isinstance(self.evaluate(name), (Function, ClassValue)):
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
        outer, around = self.scope, self.making
        self.scope = Scope(outer)
        self.scope.names = made.attrs
        self.making = self.scope, made
        try:
            self.execute(node.body)
        finally:
            self.scope, self.making = outer, around
        self._watch_unseen_calls(made)
        outer.names[node.name] = self._decorated(made)

    def _class_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, cls: ClassValue) -> None:
        inner, self.scope = self.scope, cls.scope  # methods do not see the names of their class
        try:
            made = self.function_value(node, cls)
        finally:
            self.scope = inner
        before = cls.find(node.name)
        if any(isinstance(d, ast.Attribute) and d.attr in ("setter", "deleter") for d in node.decorator_list):
            if isinstance(before, Function) and node.decorator_list[0].attr == "setter":  # type: ignore[attr-defined]
                before.setter = made
            return
        cls.attrs[node.name] = made

    def _watch_unseen_calls(self, cls: ClassValue) -> None:
        """Methods that Python or torch calls by itself, where nobody sees it, may act on gradients."""
        names = {base.name.rpartition(".")[2] for base in cls.bases if isinstance(base, External)}
        for name, method in cls.attrs.items():
            implied = name.startswith("__") and name.endswith("__") and name not in _CALLED
            if not isinstance(method, Function) or not (
                implied or (name == "backward" and names & {"Function", "Tensor"})
            ):
                continue
            body = method.node.body
            if isinstance(body, list) and (self.unit.acts(body) if implied else self.unit.clears(body)):
                self.leave_alone()

    def _decorated(self, cls: ClassValue) -> Value:
        for decorator in reversed(cls.node.decorator_list):
            wrapper = self._decorator(decorator)
            if isinstance(wrapper, (Function, Bound)):
                made = self.apply(wrapper, [cls], {}, cls.node)
                cls = made if isinstance(made, ClassValue) else cls
            elif self.unit.acts(cls.node.body):
                name = decorator.func if isinstance(decorator, ast.Call) else decorator
                if is_stranger(self.evaluate(name), self.unit.written(decorator)):
                    for method in cls.attrs.values():
                        if isinstance(method, Function):
                            method.strange = True
        return cls
