"""Arithmetic and comparisons in the small model."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from gradledger.static.entries import Entries
from gradledger.static.scale import LARGEST
from gradledger.static.values import (
    Bound,
    External,
    Function,
    Gradient,
    Instance,
    Length,
    Loader,
    Model,
    Optimizer,
    Parameters,
    Scaler,
    Scheduler,
    Tensor,
    Unknown,
    Value,
)

_BINARY: dict[type, tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", operator.mul),
    ast.Div: ("/", operator.truediv),
    ast.FloorDiv: ("//", operator.floordiv),
    ast.Mod: ("%", operator.mod),
    ast.Pow: ("**", operator.pow),
    ast.BitAnd: ("&", operator.and_),
    ast.BitOr: ("|", operator.or_),
    ast.BitXor: ("^", operator.xor),
    ast.LShift: ("<<", operator.lshift),
    ast.RShift: (">>", operator.rshift),
    ast.MatMult: ("@", operator.matmul),
}

_COMPARE: dict[type, tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Eq: ("==", operator.eq),
    ast.NotEq: ("!=", operator.ne),
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge),
    ast.Is: ("is", operator.is_),
    ast.IsNot: ("is not", operator.is_not),
    ast.In: ("in", lambda a, b: a in b),
    ast.NotIn: ("not in", lambda a, b: a not in b),
}

_OPPOSITE: dict[type, type] = {
    ast.NotEq: ast.Eq,
    ast.IsNot: ast.Is,
    ast.NotIn: ast.In,
    ast.GtE: ast.Lt,
    ast.LtE: ast.Gt,
}

_OBJECTS = (Model, Optimizer, Scaler, Scheduler, Function, Instance, Loader, Parameters, External)


def is_number(value: Value) -> bool:
    """Whether it is a number that is known."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_plain(value: Value) -> bool:
    """Whether Python itself can compute with it."""
    if value is None or isinstance(value, (int, float, str, bytes, complex)):
        return True
    if isinstance(value, (list, tuple)):
        return len(value) < 200 and all(is_plain(item) for item in value)
    return False


class Operators(Entries):
    """The part of the machine that computes."""

    def label(self, value: Value) -> str:
        """What makes two values equal conditions."""
        if isinstance(value, Unknown):
            return value.label
        if value is None or isinstance(value, (int, float, str)):
            return repr(value)[:60]
        if isinstance(value, External):
            return value.name
        if isinstance(value, Tensor):
            return f"t{value.serial}"
        if isinstance(value, Bound):
            name = value.target if isinstance(value.target, str) else getattr(value.target.node, "name", "")
            return f"{self.label(value.owner)}.{name}"
        return f"{type(value).__name__}{id(value) % 100000}"

    def number(self, value: Value) -> Value:
        """The number itself, or what stands in for it."""
        if isinstance(value, Unknown):
            return self.scale.values.get(value.label, value)
        if isinstance(value, int) and not isinstance(value, bool):
            return self.scale.number(value)
        return value

    # -- arithmetic ---------------------------------------------------------------------------------------

    def binary(self, op: ast.operator, left: Value, right: Value, node: ast.AST) -> Value:
        """`left op right`."""
        sign, compute = _BINARY[type(op)]
        if sign == "%" and not isinstance(left, (str, bytes)):
            return self._modulo(left, right, node)
        if isinstance(left, Gradient) or isinstance(right, Gradient):
            accounts = left.accounts if isinstance(left, Gradient) else right.accounts
            return self.tensor(left, right, made_of=accounts, negative=self._turns(sign, left, right))
        made_of = getattr(left, "made_of", None) or getattr(right, "made_of", None)
        if made_of:
            return self.tensor(left, right, made_of=made_of, negative=self._turns(sign, left, right))
        if isinstance(left, Parameters) and isinstance(right, Parameters) and sign == "+":
            return Parameters(left.accounts | right.accounts, left.opaque or right.opaque)
        if (
            isinstance(left, Tensor)
            or isinstance(right, Tensor)
            or isinstance(left, Parameters)
            or isinstance(right, Parameters)
        ):
            return self._on_tensors(sign, left, right)
        if is_number(left) or is_number(right):
            left, right = self._stand_in(left), self._stand_in(right)
        if is_plain(left) and is_plain(right):
            try:
                if sign in ("**", "<<") and is_number(right) and abs(right) > 64:
                    return self.unknown(self.at(node))
                if sign == "*" and not (is_number(left) and is_number(right)):
                    size = left if isinstance(left, int) else right
                    if not isinstance(size, int) or size > 64:
                        return self.unknown(self.at(node))
                return compute(left, right)
            except (TypeError, ValueError, ArithmeticError, MemoryError):
                return self.unknown(self.at(node))
        if sign == "+" and isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
            return [*left, *right]
        if isinstance(left, Unknown) or isinstance(right, Unknown):
            leaves = [v for v in (left, right) if isinstance(v, Unknown) and v.role == "leaf"]
            if leaves:
                return self.tensor(*leaves)
            fleeting = any(isinstance(v, Unknown) and v.fleeting for v in (left, right))
            return self.unknown(f"({self.label(left)}{sign}{self.label(right)})", fleeting=fleeting)
        return self.unknown(self.at(node))

    def _stand_in(self, value: Value) -> Value:
        return self.scale.values.get(value.label, value) if isinstance(value, Unknown) else value

    def _turns(self, sign: str, left: Value, right: Value) -> bool:
        """Whether what comes out goes against the gradient."""
        negative = getattr(left, "negative", False) != getattr(right, "negative", False)
        against = sign == "-" and bool(isinstance(right, Gradient) or getattr(right, "made_of", None))
        for value in (left, right):
            if (is_number(value) and value < 0) or (
                isinstance(value, Unknown) and value.label.startswith("-")
            ):
                negative = not negative
        return negative != against

    def _modulo(self, left: Value, right: Value, node: ast.AST) -> Value:
        if self.guarding and isinstance(right, Unknown) and isinstance(left, int) and not right.fleeting:
            self.learnt.unknown[right.label] = None
            right = self.scale.values.get(right.label, 3)
        right = self.number(right)
        if isinstance(left, int) and isinstance(right, int) and right:
            if self.guarding:
                if right > LARGEST:
                    self.learnt.large[right] = None
                else:
                    self.learnt.windows.add(abs(right))
            return left % right
        if is_number(left) and is_number(right) and right:
            return left % right
        return self.unknown(f"({self.label(left)}%{self.label(right)})")

    def _on_tensors(self, sign: str, left: Value, right: Value) -> Tensor:
        if isinstance(left, Parameters):
            left = self.tensor(deps=self.live(left.accounts))
        if isinstance(right, Parameters):
            right = self.tensor(deps=self.live(right.accounts))
        if isinstance(left, Tensor) and isinstance(right, Tensor):
            made = self.tensor(left, right)
            if sign in "+-" and left.reduction == right.reduction and left.factor == right.factor:
                made.reduction, made.factor = left.reduction, left.factor
                made.presumed = left.presumed or right.presumed
            elif sign in "+-" and not right.deps:
                made.reduction, made.factor, made.presumed = left.reduction, left.factor, left.presumed
            elif sign in "+-" and not left.deps:
                made.reduction, made.factor, made.presumed = right.reduction, right.factor, right.presumed
            else:
                made.factor = None
            made.divisions = left.divisions | right.divisions
            return made
        tensor, other = (left, right) if isinstance(left, Tensor) else (right, left)
        made = self.tensor(tensor, other)
        made.reduction, made.presumed, made.factor = tensor.reduction, tensor.presumed, tensor.factor
        made.divisions = tensor.divisions
        made.rows = tensor.rows
        if sign in ("*", "/"):
            by = self.number(other)
            if is_number(by) and made.factor is not None and by and not (sign == "/" and other is left):
                made.factor = made.factor * by if sign == "*" else made.factor / by
            else:
                made.factor = None
                made.divisions |= {self.label(other)}
        elif sign not in ("+", "-"):
            made.factor, made.reduction = None, "unknown"
        return made

    def unary(self, op: ast.unaryop, value: Value, node: ast.AST) -> Value:
        """`op value`."""
        if isinstance(op, ast.Not):
            if isinstance(value, Unknown):
                return self.unknown(f"not {value.label}")
            return not value if is_plain(value) else self.unknown(self.at(node))
        if isinstance(value, Tensor):
            made = self.tensor(value)
            made.reduction, made.presumed = value.reduction, value.presumed
            made.factor = (
                None if value.factor is None else -value.factor if isinstance(op, ast.USub) else value.factor
            )
            made.factor = None if made.factor is None else abs(made.factor)
            made.made_of, made.negative = value.made_of, value.negative != isinstance(op, ast.USub)
            return made
        if isinstance(value, Gradient):
            return self.tensor(made_of=value.accounts, negative=isinstance(op, ast.USub))
        if is_number(value):
            if isinstance(op, ast.Invert):
                return ~value if isinstance(value, int) else self.unknown(self.at(node))
            return -value if isinstance(op, ast.USub) else +value
        if isinstance(value, Unknown):
            return self.unknown(f"-{value.label}")
        return self.unknown(self.at(node))

    # -- comparisons --------------------------------------------------------------------------------------

    def compare(self, op: ast.cmpop, left: Value, right: Value, node: ast.AST) -> Value:
        """`left op right`: True, False or unknown."""
        sign, compute = _COMPARE[type(op)]
        if sign in ("is", "is not") or (sign in ("==", "!=") and (left is None or right is None)):
            known = self._is(left, right)
            if known is not None:
                return known if sign in ("is", "==") else not known
            return self.unknown(f"{self.label(left)} {sign} {self.label(right)}")
        left, right = self._guard_number(left, right), self._guard_number(right, left)
        left, right = self.number(left), self.number(right)
        if is_plain(left) and is_plain(right):
            try:
                counted = not (
                    isinstance(node, ast.Compare)
                    and isinstance(node.left, ast.BinOp)
                    and isinstance(node.left.op, ast.Mod)
                )
                if self.guarding and counted and is_number(left) and is_number(right):
                    self._learn_bound(sign, left, right)
                return bool(compute(left, right))
            except (TypeError, ValueError):
                return self.unknown(self.at(node))
        if sign in ("in", "not in") and isinstance(right, (dict, list, tuple)) and is_plain(left):
            try:
                if all(is_plain(item) for item in right):
                    return bool(compute(left, right))
            except TypeError:
                pass
        if isinstance(left, _OBJECTS) and isinstance(right, _OBJECTS) and sign in ("==", "!="):
            return (left is right) == (sign == "==")
        if isinstance(left, Tensor) or isinstance(right, Tensor):
            return self.unknown(self.at(node))
        return self.unknown(f"{self.label(left)} {sign} {self.label(right)}")

    def opposite(self, op: ast.cmpop) -> ast.cmpop | None:
        """The comparison that says the contrary, where it is the plainer one."""
        other = _OPPOSITE.get(type(op))
        return None if other is None else other()

    def _is(self, left: Value, right: Value) -> bool | None:
        for one, other in ((left, right), (right, left)):
            if isinstance(one, Gradient) and other is None:
                boxes = [self.boxes[number] for number in one.accounts]
                return all(box.content == "none" for box in boxes) if boxes else None
        if isinstance(left, Unknown) or isinstance(right, Unknown):
            if isinstance(left, Unknown) and isinstance(right, Unknown) and left is right:
                return True
            role = left if isinstance(left, Unknown) else right
            if role.role is not None or role.account is not None:
                return False
            if (left is None or right is None) and role.label.startswith(("elt(", "batch of ")):
                return False  # what a loader gives is data
            return None
        if left is None or right is None:
            return left is right
        if isinstance(left, bool) and isinstance(right, bool):
            return left is right
        if is_plain(left) or is_plain(right):
            return None if not (is_plain(left) and is_plain(right)) else bool(left == right)
        return left is right

    def _guard_number(self, value: Value, other: Value) -> Value:
        """An unknown bound that decides when to step gets a number of its own."""
        if (
            self.guarding
            and isinstance(value, Unknown)
            and isinstance(other, int)
            and not isinstance(other, bool)
        ):
            if value.label in self.scale.values:
                return self.scale.values[value.label]
            if self._is_count(value.label):
                self.learnt.unknown[value.label] = None
                return 3
        return value

    def _is_count(self, label: str) -> bool:
        text = label.lower().rsplit(".", 1)[-1]
        return any(
            word in text
            for word in (
                "accum",
                "micro",
                "every",
                "freq",
                "window",
                "n_steps",
                "num_steps",
                "iter_size",
                "virtual",
            )
        )

    def _learn_bound(self, sign: str, left: Value, right: Value) -> None:
        """A counter that is compared with a large number: the number becomes small."""
        if isinstance(left, Length) or isinstance(right, Length):
            return
        for bound in (left, right):
            if isinstance(bound, int) and self.loops:
                if 1 < bound <= LARGEST:
                    self.learnt.windows.add(bound)
                elif bound > LARGEST and sign in ("==", ">="):
                    self.learnt.large[bound] = None
