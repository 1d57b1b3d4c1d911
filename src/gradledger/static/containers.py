"""Lists, tuples, dictionaries, subscripts and comprehensions in the small model."""

from __future__ import annotations

import ast
import re
from typing import Any

from gradledger.ledger import events as ev
from gradledger.static.attributes import Attributes
from gradledger.static.values import Defaults, Iteration, Model, Parameters, Scope, Tensor, Unknown, Value

_DATA = re.compile(r"(?:elt\(|batch of )")
"""What a loader has given."""

_ACTS = (ev.BackwardRan, ev.GradientCleared, ev.OptimizerStepped, ev.GradientsClipped)

_PER_ELEMENT = frozenset({"step", "zero_grad"})


class Containers(Attributes):
    """The part of the machine that knows containers."""

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
                else:
                    self.forget(made)
                continue
            name = self.evaluate(key)
            made[name if isinstance(name, (str, int, float, type(None))) else self.label(name)] = held
        return made

    def _subscript(self, node: ast.Subscript) -> Value:
        return self.item(self.evaluate(node.value), node)

    def item(self, value: Value, node: ast.Subscript) -> Value:
        """`value[…]`."""
        if isinstance(node.slice, ast.Slice):
            if isinstance(value, (list, tuple, str)):
                return self._slice(value, node.slice)
            if isinstance(value, Iteration):
                return _some_of(value, self._bounds(node.slice, lengths=True))
            index = self._bounds(node.slice)
        else:
            index = self.evaluate(node.slice)
        if isinstance(value, Tensor):
            return self._rows_of(value, index, node)
        if isinstance(index, slice):
            if isinstance(value, Unknown) and _DATA.match(value.label):
                return Tensor(self.fresh(), rows=_cut(None, index))
            index = None
        match value:
            case list() | tuple():
                if isinstance(index, int) and -len(value) <= index < len(value):
                    return value[index]
                return value[0] if len(value) == 1 else self.unknown(self.at(node))
            case dict():
                key = index if isinstance(index, (str, int, float, type(None))) else self.label(index)
                if key not in value and isinstance(value, Defaults):
                    value[key] = value.make()
                return value[key] if key in value else self.unknown(f"{self.at(node)}[{key}]")
            case Model():
                return _submodule(value, index)
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

    def _rows_of(self, value: Tensor, index: Value, node: ast.Subscript) -> Tensor:
        """Some of a tensor's rows, or one of the losses that a model gives."""
        made = self.tensor(value)
        if isinstance(index, slice):
            made.rows = _cut(value.rows, index)
        elif not _keeps_rows(node.slice):
            made.rows = (
                index.rows if isinstance(index, Tensor) else None
            )  # a list of places, one for each row
        made.reduction = value.reduction if isinstance(index, (str, int)) else "unknown"
        if isinstance(index, str) and "loss" in index:
            made.reduction, made.presumed = "mean", True
        return made

    def _bounds(self, node: ast.Slice, *, lengths: bool = False) -> Value:
        """`a:b` as a slice of numbers, or None; also of numbers of batches, where batches are meant."""
        bounds = [None if b is None else self.evaluate(b) for b in (node.lower, node.upper)]
        if node.step is None and all(
            b is None or type(b) is int or (lengths and isinstance(b, int)) for b in bounds
        ):
            return slice(*bounds)
        return None

    def _slice(self, value: Value, node: ast.Slice) -> Value:
        bounds = [None if b is None else self.evaluate(b) for b in (node.lower, node.upper, node.step)]
        if bounds[2] == 0 or not all(b is None or isinstance(b, int) for b in bounds):
            return value
        return value[slice(*bounds)]

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp) -> Value:
        made: list[Value] = []
        if len(node.generators) == 1 and not node.generators[0].ifs:
            many = self._many(node.generators[0], node.elt)
            if many is not None:
                return many
        self._generate(node.generators, 0, lambda: made.append(self.evaluate(node.elt)))
        if made and all(isinstance(item, Parameters) for item in made):
            return Parameters(
                frozenset().union(*(item.accounts for item in made)),
                any(i.opaque for i in made),
                picked=any(generator.ifs for generator in node.generators),
            )
        return made

    def _many(self, generator: ast.comprehension, element: ast.expr) -> Value:
        """A list of many batches: one of them stands for all."""
        value = self.evaluate(generator.iter)
        items = self.iteration(value, generator.iter)
        if not items.endless or (items.length <= 6 and items.loader is None):
            return None
        if not items.exact and self.stands_for_all(generator.target):
            return None
        outer = self.scope
        self.scope = Scope(outer)
        try:
            self.bind(generator.target, items.make(0))
            said = len(self.events)
            made = self.evaluate(element)
            if any(isinstance(event, _ACTS) for event in self.events[said:]):
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
            return [made] if not items.exact else None
        return Iteration(items.length, lambda i: made, items.exact, label=items.label, endless=True)

    def stands_for_all(self, target: ast.expr) -> bool:
        """Whether a loop's own variable is stepped or cleared: of a list of optimizers one stands for all."""
        names = [part.id for part in ast.walk(target) if isinstance(part, ast.Name)]
        return any(not _PER_ELEMENT.isdisjoint(self.unit.uses.get(name, ())) for name in names)

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


def _cut(rows: int | None, index: slice) -> int | None:
    """How many rows a slice leaves, where that is known."""
    start, stop = index.start or 0, index.stop
    if index.step is not None or type(start) is not int or start < 0:
        return None
    if stop is None or stop < 0 or (rows is not None and stop > rows):
        stop = rows
    return stop - start if stop is not None and stop > start else None


def _submodule(model: Model, index: Value) -> Value:
    """`model[0]` and `model["head"]`."""
    if isinstance(index, int) and -len(model.children) <= index < len(model.children):
        return model.children[index]
    return model.attrs.get(index, model) if isinstance(index, str) else model


def _keeps_rows(index: ast.expr) -> bool:
    """Whether the index leaves the first dimension as it is."""
    return (
        isinstance(index, ast.Tuple)
        and bool(index.elts)
        and isinstance(index.elts[0], ast.Slice)
        and index.elts[0].lower is index.elts[0].upper is index.elts[0].step is None
    )


def _some_of(items: Iteration, bounds: Value) -> Iteration:
    """A part of many batches; how many they are is open where the bounds are."""
    if not isinstance(bounds, slice):
        return Iteration(items.length, items.make, exact=False, endless=items.endless)
    start, stop, _ = bounds.indices(items.length)
    make = items.make
    return Iteration(
        max(0, stop - start), lambda i: make(start + i), items.exact, label=items.label, endless=items.endless
    )


def _holds_parameters(item: Value) -> bool:
    parts = item if isinstance(item, tuple) else (item,)
    return any(isinstance(part, Parameters) for part in parts)
