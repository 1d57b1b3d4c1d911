"""Expressions in the small model."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from gradledger.static.operators import Operators, is_plain
from gradledger.static.state import OutOfBudget
from gradledger.static.unit import direct
from gradledger.static.values import (
    Accelerator,
    Bound,
    ClassValue,
    External,
    Function,
    Gradient,
    Instance,
    Iteration,
    Loader,
    Model,
    Namespace,
    Optimizer,
    Parameters,
    Scaler,
    Scheduler,
    Scope,
    Super,
    Tensor,
    Unknown,
    Value,
)

_FACTS = frozenset({"shape", "device", "dtype", "size", "ndim", "is_cuda", "requires_grad", "grad_fn", "is_leaf"})
_APART = frozenset({"data", "detach"})


class Expressions(Operators):
    """The part of the machine that evaluates."""

    def evaluate(self, node: ast.expr) -> Value:
        """The value of an expression."""
        self.budget -= 1
        if self.budget < 0:
            raise OutOfBudget
        handler = _HANDLERS.get(type(node))
        return self.unknown(self.at(node)) if handler is None else handler(self, node)

    # -- parts that other files provide ---------------------------------------------------------------------

    def call(self, node: ast.Call) -> Value:
        """A call expression."""
        raise NotImplementedError

    def apply(self, function: Value, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
        """Call a value."""
        raise NotImplementedError

    def iterate(self, value: Value) -> Iterator[Value]:
        """The items of a value, for a comprehension or a small loop."""
        raise NotImplementedError

    def lookup(self, name: str) -> Value:
        """What a name means that no scope holds."""
        raise NotImplementedError

    # -- names and attributes ---------------------------------------------------------------------------------

    def _name(self, node: ast.Name) -> Value:
        scope: Scope | None = self.scope
        name = node.id
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.outer
        return self.lookup(name)

    def _attribute(self, node: ast.Attribute) -> Value:
        return self.attribute(self.evaluate(node.value), node.attr, node)

    def attribute(self, value: Value, name: str, node: ast.AST) -> Value:
        """`value.name`."""
        match value:
            case Instance():
                return self._instance_attribute(value, name, node)
            case Unknown():
                known = value.attrs.get(name)
                if known is not None or name in value.attrs:
                    return known
                if name == "grad" and value.role == "leaf" and value.account is not None:
                    return Gradient(frozenset((value.account,)), f"{value.label}.grad")
                if name == "module" and value.account is not None:
                    return value
                if name == "data" and value.role == "leaf":
                    return self.unknown(f"{value.label}.data")
                return self.unknown(f"{value.label}.{name}")
            case External():
                return External(f"{value.name}.{name}")
            case Tensor():
                return self._tensor_attribute(value, name, node)
            case Parameters():
                if name == "grad":
                    return Gradient(value.accounts, "p.grad")
                if name == "data":
                    return Parameters(value.accounts, value.opaque, element=True, data=True)
                if name == "requires_grad":
                    return bool(self.live(value.accounts)) if value.accounts else True
                return Bound(value, name)
            case Gradient():
                if name == "data":
                    self.read_gradient(value, node)
                    return value
                return Bound(value, name)
            case Model():
                if name in value.attrs:
                    return value.attrs[name]
                if name in ("weight", "bias") and value.account is not None:
                    return Parameters(frozenset((value.account,)), element=True)
                if name == "module":
                    return value.children[0] if value.replicated and value.children else value
                return Bound(value, name)
            case Optimizer():
                if name in value.attrs:
                    return value.attrs[name]
                if name == "param_groups":
                    group = {"params": Parameters(value.accounts or frozenset()), "lr": self.unknown(f"{value.name}.lr")}
                    return [group]
                if name == "optimizer":
                    return value
                return Bound(value, name)
            case Accelerator():
                if name == "sync_gradients":
                    return value.sync
                if name == "gradient_accumulation_steps":
                    return value.every
                return Bound(value, name)
            case Namespace():
                return value.scope.names.get(name, self.unknown(f"{value.unit.path}.{name}"))
            case ClassValue():
                found = value.find(name)
                return self.unknown(f"{value.node.name}.{name}") if found is None else found
            case Super():
                return self._super_attribute(value, name)
            case Scaler() | Scheduler() | Loader() | Iteration() | list() | dict() | tuple() | str():
                if isinstance(value, Scheduler) and name == "optimizer":
                    return value.optimizer
                return Bound(value, name)
            case _:
                return self.unknown(f"{self.label(value)}.{name}")

    def _instance_attribute(self, value: Instance, name: str, node: ast.AST) -> Value:
        if name in value.attrs:
            return value.attrs[name]
        found = value.cls.find(name)
        if isinstance(found, Function):
            if found.kind == "property":
                return self.apply(found, [value], {}, node)
            return found if found.kind == "static" else Bound(value, found)
        if found is not None:
            return found
        if name == "module" and value.replicated:
            return value
        if value.cls.is_module and name not in ("device", "hparams", "logger", "trainer", "config", "cfg", "args"):
            return Bound(value, name)
        return self.unknown(f"{value.label}.{name}")

    def _super_attribute(self, value: Super, name: str) -> Value:
        instance = value.instance
        lineage = instance.cls.lineage() if isinstance(instance, Instance) else []
        after = lineage[lineage.index(value.after) + 1 :] if value.after in lineage else []
        for cls in after:
            if name in cls.attrs:
                found = cls.attrs[name]
                return Bound(instance, found) if isinstance(found, Function) else found
        return Bound(instance, name) if isinstance(instance, Instance) else self.unknown(f"super().{name}")

    def _tensor_attribute(self, value: Tensor, name: str, node: ast.AST) -> Value:
        if name == "grad":
            if value.leaf is not None:
                return Gradient(frozenset((value.leaf,)), "x.grad")
            return self.unknown(f"t{value.serial}.grad")
        if name == "data":
            if value.leaf is not None:
                return Parameters(frozenset((value.leaf,)), element=True, data=True)
            return self.tensor(rows=value.rows, cut=bool(value.deps) or value.cut)
        if name == "shape":
            return (value.rows, self.unknown("dim")) if value.rows is not None else self.unknown(f"t{value.serial}.shape")
        if name == "loss":
            made = self.tensor(value)
            made.reduction = "mean"
            return made
        if name in _FACTS and name != "size":
            return self.unknown(f"t{value.serial}.{name}")
        return Bound(value, name)

    def read_gradient(self, value: Gradient, node: ast.AST) -> None:
        """`.grad` is used as a tensor."""
        raise NotImplementedError

    # -- containers -------------------------------------------------------------------------------------------

    def _tuple(self, node: ast.Tuple) -> Value:
        return tuple(self._items(node.elts))

    def _list(self, node: ast.List | ast.Set) -> Value:
        return self._items(node.elts)

    def _items(self, nodes: list[ast.expr]) -> list[Value]:
        items: list[Value] = []
        for node in nodes[:400]:
            if isinstance(node, ast.Starred):
                value = self.evaluate(node.value)
                items += value if isinstance(value, (list, tuple)) else [value]
            else:
                items.append(self.evaluate(node))
        return items

    def _dict(self, node: ast.Dict) -> Value:
        made: dict[Any, Value] = {}
        for key, value in zip(node.keys[:400], node.values, strict=False):
            held = self.evaluate(value)
            if key is None:
                if isinstance(held, dict):
                    made.update(held)
                continue
            name = self.evaluate(key)
            made[name if isinstance(name, (str, int, float, type(None))) else self.label(name)] = held
        return made

    def _subscript(self, node: ast.Subscript) -> Value:
        return self.item(self.evaluate(node.value), node)

    def item(self, value: Value, node: ast.Subscript) -> Value:
        """`value[…]`."""
        if isinstance(value, (list, tuple, str)) and isinstance(node.slice, ast.Slice):
            bounds = [None if b is None else self.evaluate(b) for b in (node.slice.lower, node.slice.upper, node.slice.step)]
            if all(b is None or isinstance(b, int) for b in bounds):
                try:
                    return value[slice(*bounds)]
                except ValueError:
                    return value
            return value
        index = None if isinstance(node.slice, ast.Slice) else self.evaluate(node.slice)
        match value:
            case Tensor():
                made = self.tensor(value, rows=value.rows if _keeps_rows(node.slice) else None)
                made.reduction = value.reduction if isinstance(index, (str, int)) else "unknown"
                if isinstance(index, str) and "loss" in index:
                    made.reduction, made.presumed = "mean", True
                return made
            case list() | tuple():
                if isinstance(index, int) and -len(value) <= index < len(value):
                    return value[index]
                return value[0] if len(value) == 1 else self.unknown(self.at(node))
            case dict():
                key = index if isinstance(index, (str, int, float, type(None))) else self.label(index)
                if key in value:
                    return value[key]
                return self.unknown(f"{self.at(node)}[{key}]")
            case Model():
                if isinstance(index, int) and -len(value.children) <= index < len(value.children):
                    return value.children[index]
                if isinstance(index, str) and index in value.attrs:
                    return value.attrs[index]
                return value
            case Parameters():
                return Parameters(value.accounts, value.opaque, element=True)
            case Iteration():
                return value.make(0) if index is not None else value
            case Unknown():
                name = f"[{self.label(index)}]"
                if name in value.attrs:
                    return value.attrs[name]
                return self.unknown(f"{value.label}{name}")
            case _:
                return self.unknown(self.at(node))

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp) -> Value:
        made: list[Value] = []
        if len(node.generators) == 1 and not node.generators[0].ifs:
            many = self._many(node.generators[0], node.elt)
            if many is not None:
                return many
        self._generate(node.generators, 0, lambda: made.append(self.evaluate(node.elt)))
        if made and all(isinstance(item, Parameters) for item in made):
            return Parameters(frozenset().union(*(item.accounts for item in made)), any(i.opaque for i in made))
        return made

    def _many(self, generator: ast.comprehension, element: ast.expr) -> Value:
        """A list of many batches: one of them stands for all."""
        value = self.evaluate(generator.iter)
        items = self.iteration(value, generator.iter)
        if not items.endless or (items.length <= 6 and items.loader is None):
            return None
        outer = self.scope
        self.scope = Scope(outer)
        try:
            self.bind(generator.target, items.make(0))
            said = len(self.events)
            made = self.evaluate(element)
            if len(self.events) > said:
                # Not a list of data but a loop that acts.
                rest = range(1, self.scale.length(items.length))
                made = [made]
                for turn in rest:
                    self.bind(generator.target, items.make(turn))
                    made.append(self.evaluate(element))
                return made
        finally:
            self.scope = outer
        if not isinstance(made, (Tensor, Unknown, tuple)):
            return None
        return Iteration(items.length, lambda i: made, items.exact, label=items.label, endless=True)

    def iteration(self, value: Value, node: ast.AST) -> Iteration:
        """How a value is iterated over."""
        raise NotImplementedError

    def _dict_comprehension(self, node: ast.DictComp) -> Value:
        made: dict[Any, Value] = {}

        def add() -> None:
            key = self.evaluate(node.key)
            made[key if isinstance(key, (str, int)) else self.label(key)] = self.evaluate(node.value)

        self._generate(node.generators, 0, add)
        return made

    def _generate(self, generators: list[ast.comprehension], depth: int, yield_: Any) -> None:
        if depth == len(generators):
            yield_()
            return
        outer = self.scope
        generator = generators[depth]
        items = self.iterate(self.evaluate(generator.iter))
        self.scope = Scope(outer)
        try:
            for number, item in enumerate(items):
                if number >= 24:
                    break
                self.bind(generator.target, item)
                decided = len(self.decided)
                fits = all(self.truth(test, default=True) for test in generator.ifs)
                if len(self.decided) != decided and _holds_parameters(item):
                    self.ambiguous = True
                if fits:
                    self._generate(generators, depth + 1, yield_)
        finally:
            self.scope = outer

    # -- the rest ---------------------------------------------------------------------------------------------

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
        for part in node.values:
            value = self.evaluate(part)
            known = self.known_truth(value)
            if known is None:
                rest = "and" if is_and else "or"
                others = [self.label(self.evaluate(p)) for p in node.values if p is not part]
                if not is_and and not isinstance(value, Unknown):
                    return value
                return self.unknown(f"({self.label(value)} {rest} {' '.join(others)})")
            if known != is_and:
                return value
        return value

    def _if_expression(self, node: ast.IfExp) -> Value:
        relevant = direct(self.unit.lines[node.lineno - 1]) if node.lineno <= len(self.unit.lines) else False
        return self.evaluate(node.body if self.truth(node.test, relevant=relevant, default=True) else node.orelse)

    def _lambda(self, node: ast.Lambda) -> Value:
        return Function(node, self.unit, self.scope)

    def _walrus(self, node: ast.NamedExpr) -> Value:
        value = self.evaluate(node.value)
        self.bind(node.target, value)
        return value

    def _text(self, node: ast.AST) -> Value:
        return self.unknown("text")

    def _await(self, node: ast.Await | ast.Starred) -> Value:
        return self.evaluate(node.value)

    def bind(self, target: ast.expr, value: Value) -> None:
        """Assign to a target."""
        raise NotImplementedError

    # -- truth ------------------------------------------------------------------------------------------------

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
        return True

    def truth(self, node: ast.expr, *, relevant: bool = False, default: bool = True) -> bool:
        """Which way a condition goes."""
        match node:
            case ast.UnaryOp(op=ast.Not()):
                return not self.truth(node.operand, relevant=relevant, default=not default)
            case ast.BoolOp(op=ast.And()):
                return all(self.truth(part, relevant=relevant, default=default) for part in node.values)
            case ast.BoolOp():
                return any(self.truth(part, relevant=relevant, default=default) for part in node.values)
            case ast.Compare(ops=[op], comparators=[right]) if (plain := self.opposite(op)) is not None:
                result = self.compare(plain, self.evaluate(node.left), self.evaluate(right), node)
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


def _keeps_rows(index: ast.expr) -> bool:
    """Whether the index leaves the first dimension as it is."""
    return (
        isinstance(index, ast.Tuple)
        and bool(index.elts)
        and isinstance(index.elts[0], ast.Slice)
        and index.elts[0].lower is index.elts[0].upper is index.elts[0].step is None
    )


def _holds_parameters(item: Value) -> bool:
    parts = item if isinstance(item, tuple) else (item,)
    return any(isinstance(part, Parameters) for part in parts)


_HANDLERS: dict[type, Any] = {
    ast.Constant: Expressions._constant,
    ast.Name: Expressions._name,
    ast.Attribute: Expressions._attribute,
    ast.Call: lambda self, node: self.call(node),
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
