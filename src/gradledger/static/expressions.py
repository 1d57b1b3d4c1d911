"""Expressions in the small model."""

from __future__ import annotations

import ast
from typing import Any

from gradledger.static.containers import Containers
from gradledger.static.leaving import OutOfBudget
from gradledger.static.operators import is_plain
from gradledger.static.unit import direct
from gradledger.static.values import Bound, Function, Gradient, Instance, Scope, Tensor, Unknown, Value


class Expressions(Containers):
    """The part of the machine that evaluates."""

    def evaluate(self, node: ast.expr) -> Value:
        """The value of an expression."""
        self.budget -= 1
        if self.budget < 0:
            raise OutOfBudget
        kind = type(node)
        if kind is ast.Name:
            return self._name(node)  # type: ignore[arg-type]
        if kind is ast.Call:
            return self.call(node)  # type: ignore[arg-type]
        handler = _HANDLERS.get(kind)
        return self.unknown(self.at(node)) if handler is None else handler(self, node)

    def _name(self, node: ast.Name) -> Value:
        scope: Scope | None = self.scope
        name = node.id
        while scope is not None:
            names = scope.names
            if name in names:
                return names[name]
            scope = scope.outer
        return self.lookup(name)

    def _attribute(self, node: ast.Attribute) -> Value:
        value = self.attribute(self.evaluate(node.value), node.attr, node)
        if isinstance(value, Bound) and isinstance(value.owner, Tensor) and value.target != "backward":
            return self.tensor(value.owner)  # a part of a model's output, not a method that is called
        return value

    def _constant(self, node: ast.Constant) -> Value:
        return node.value

    def _binary(self, node: ast.BinOp) -> Value:
        return self.binary(node.op, self.evaluate(node.left), self.evaluate(node.right), node)

    def _unary(self, node: ast.UnaryOp) -> Value:
        return self.unary(node.op, self.evaluate(node.operand), node)

    def _compare(self, node: ast.Compare) -> Value:
        left = self.evaluate(node.left)
        result: Value = True
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            right = self.evaluate(right_node)
            result = self.compare(op, left, right, node)
            if result is False or isinstance(result, Unknown):
                return result
            left = right
        return result

    def _bool(self, node: ast.BoolOp) -> Value:
        is_and = isinstance(node.op, ast.And)
        value: Value = None
        before: list[str] = []
        for number, part in enumerate(node.values):
            value = self.evaluate(part)
            known = self.known_truth(value)
            after = node.values[number + 1 :]
            if known is None and any(direct(self.unit.written(other)) for other in after):
                # Whether the rest is evaluated matters: it acts.
                known = self.decide(self.label(value), part, relevant=True, default=is_and)
            if known is None:
                rest = "and" if is_and else "or"
                others = [*before, *(self.label(self.evaluate(other)) for other in after)]
                if not is_and and not isinstance(value, Unknown):
                    return value
                return self.unknown(f"({self.label(value)} {rest} {' '.join(others)})")
            if known != is_and:
                return value
            before.append(self.label(value))
        return value

    def _if_expression(self, node: ast.IfExp) -> Value:
        relevant = direct(self.unit.lines[node.lineno - 1]) if node.lineno <= len(self.unit.lines) else False
        return self.evaluate(
            node.body if self.truth(node.test, relevant=relevant, default=True) else node.orelse
        )

    def _lambda(self, node: ast.Lambda) -> Value:
        return Function(node, self.unit, self.scope)

    def _walrus(self, node: ast.NamedExpr) -> Value:
        value = self.evaluate(node.value)
        self.bind(node.target, value)
        return value

    def _text(self, node: ast.JoinedStr) -> Value:
        for part in node.values:
            if isinstance(part, ast.FormattedValue) and any(
                isinstance(inner, ast.Call) for inner in ast.walk(part.value)
            ):
                self.evaluate(part.value)
        names = [part.value for part in node.values if isinstance(part, ast.FormattedValue)]
        if all(isinstance(name, ast.Name) for name in names) and "getattr" in self.unit.code:
            parts = [
                self.evaluate(part.value if isinstance(part, ast.FormattedValue) else part)
                for part in node.values
            ]
            if all(isinstance(part, str) for part in parts):
                return "".join(parts)
        return self.unknown("text")

    def _await(self, node: ast.Await | ast.Starred) -> Value:
        return self.evaluate(node.value)

    def known_truth(self, value: Value) -> bool | None:
        """Whether a value is true; None if that cannot be told."""
        if isinstance(value, Unknown):
            if value.label in self.scale.values:
                return True
            return True if value.role is not None or value.account is not None else None
        if isinstance(value, (Tensor, Gradient)):
            return None
        if is_plain(value) or isinstance(value, (list, tuple, dict)):
            return bool(value)
        return self._object_truth(value) if isinstance(value, Instance) else True

    def _object_truth(self, value: Instance) -> bool | None:
        """Whether an object says of itself that it is true."""
        for name in ("__bool__", "__len__"):
            method = value.cls.find(name)
            if isinstance(method, Function):
                said = self.apply(method, [value], {}, method.node)
                return bool(said) if is_plain(said) else None
        return True

    def truth(self, node: ast.expr, *, relevant: bool = False, default: bool = True) -> bool:
        """Which way a condition goes."""
        compound = node if type(node) in _COMPOUND else None  # a match costs, and most conditions are names
        match compound:
            case ast.UnaryOp(op=ast.Not()):
                return not self.truth(compound.operand, relevant=relevant, default=not default)
            case ast.BoolOp(op=ast.And()):
                return all(self.truth(part, relevant=relevant, default=default) for part in compound.values)
            case ast.BoolOp():
                return any(self.truth(part, relevant=relevant, default=default) for part in compound.values)
            case ast.Compare(ops=[op], comparators=[right]) if (plain := self.opposite(op)) is not None:
                result = self.compare(plain, self.evaluate(compound.left), self.evaluate(right), node)
                known = self.known_truth(result)
                if known is None:
                    known = self.decide(self.label(result), node, relevant=relevant, default=not default)
                return not known
        value = self.evaluate(node)
        known = self.known_truth(value)
        if known is None:
            label = value.label if isinstance(value, Unknown) else self.at(node)
            negated = label.startswith("not ")
            label = label[4:] if negated else label
            known = self.decide(label, node, relevant=relevant, default=default != negated) != negated
        return known


_COMPOUND = frozenset((ast.UnaryOp, ast.BoolOp, ast.Compare))

_HANDLERS: dict[type, Any] = {
    ast.Constant: Expressions._constant,
    ast.Attribute: Expressions._attribute,
    ast.BinOp: Expressions._binary,
    ast.UnaryOp: Expressions._unary,
    ast.Compare: Expressions._compare,
    ast.BoolOp: Expressions._bool,
    ast.IfExp: Expressions._if_expression,
    ast.Tuple: Expressions._tuple,
    ast.List: Expressions._list,
    ast.Set: Expressions._list,
    ast.Dict: Expressions._dict,
    ast.Subscript: Expressions._subscript,
    ast.ListComp: Expressions._comprehension,
    ast.SetComp: Expressions._comprehension,
    ast.GeneratorExp: Expressions._comprehension,
    ast.DictComp: Expressions._dict_comprehension,
    ast.Lambda: Expressions._lambda,
    ast.NamedExpr: Expressions._walrus,
    ast.JoinedStr: Expressions._text,
    ast.Await: Expressions._await,
    ast.Starred: Expressions._await,
}
