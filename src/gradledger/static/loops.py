"""Loops in the small model: how often they turn, and what their end means."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from gradledger.ledger import events as ev
from gradledger.static.assignments import Assignments
from gradledger.static.leaving import Way
from gradledger.static.scale import EPOCHS
from gradledger.static.turning import Turning
from gradledger.static.values import (
    Function,
    Instance,
    Iteration,
    Loader,
    Model,
    Parameters,
    Tensor,
    Unknown,
    Value,
)

MOST_ITEMS = 24
MOST_IDLE = 3
"""How often a loop turns around one that never comes to a pass: each such turn is as long as all batches."""

_LISTS = frozenset({"items", "keys", "values"})
_LISTED = re.compile(r"\.(?:items|keys|values)\(\)@")


class Loops(Assignments):
    """The part of the machine that runs loops."""

    def _for(self, node: ast.For | ast.AsyncFor) -> Way | None:
        value = self.evaluate(node.iter)
        items = self.iteration(value, node)
        tasks = self.unit.draws_by_key(node) or self._is_table(value)
        if tasks and items.loader is not None:
            items = Iteration(items.length, items.make, items.exact, None, items.label, items.endless)
        if items.endless and not items.exact and self.stands_for_all(node.target):
            items = Iteration(1, items.make, exact=False)
        relevant = self.unit.touches_gradients(node.body)
        loop = self._begin(node, loader=items.loader is not None, exact=items.exact, relevant=relevant)
        loop.endless, loop.tasks = items.endless, tasks
        loop.plan = items.label or (items.length if items.exact else None)
        if relevant:
            loop.micro, loop.closes = self.unit.heads(node)
            loop.members = self.unit.trains_each(node)
        if items.loader is not None:
            loop.number = items.loader.number
        if relevant and not items.length:
            self.guessed = True  # what fills it may not have been seen
        way: Way | None = None
        turn = 0
        ended = True
        try:
            while turn < items.length:
                if not relevant and turn >= (1 if items.endless else MOST_ITEMS):
                    break
                if relevant and turn and loop.outer and items.endless and turn >= EPOCHS:
                    break
                if relevant and not loop.outer and turn >= self.scale.length(items.length) and items.endless:
                    break
                if turn >= MOST_IDLE and loop.idle and not loop.passes and items.endless:
                    break
                loop.drawn = loop.loader
                self.turns += 1
                loop.turn = self.turns
                # Of many epochs the first and the last are run.
                skips = turn == EPOCHS - 1 and loop.outer and items.endless and items.exact
                self.bind(node.target, items.make(items.length - 1 if skips else turn))
                self._tell_accelerators(items, turn)
                turn += 1
                said = len(self.events)
                way = self.execute(node.body)
                if not relevant and len(self.events) > said:
                    # Reached through a table of functions or a name made at run time.
                    relevant = loop.relevant = True
                if way is Way.BREAK or way is Way.RETURN:
                    ended = False
                    break
                way = None
        finally:
            self._end(loop)
        if ended:
            self._exhausted(node, loop, items)
        if way is Way.RETURN:
            return way
        if way is not Way.BREAK and node.orelse:
            return self.execute(node.orelse)
        return None

    def _tell_accelerators(self, items: Iteration, turn: int) -> None:
        if items.loader is not None and self.roles:
            last = turn + 1 >= self.scale.length(items.length)
            for role in self.accelerators():
                role.last = last

    def accelerators(self) -> list[Any]:
        """The accelerators of the program."""
        return [role for role in self.roles.values() if type(role).__name__ == "Accelerator"]

    def _begin(self, node: ast.AST, *, loader: bool, exact: bool, relevant: bool) -> Turning:
        number = self.called.get(-id(node))
        if number is None:
            number = self.called[-id(node)] = 1_000_000 + self.fresh()
        elif not loader and relevant:
            # The loop around this one has turned.
            self.events.append(ev.EpochEnded(self.site(node), number, exhausted=False))
        loop = Turning(node, number, loader, exact, relevant)
        self.loops.append(loop)
        return loop

    def _end(self, loop: Turning) -> None:
        self.loops.pop()
        if self.loops and loop.relevant and loop.endless and not loop.passes:
            self.loops[-1].idle = True

    def _exhausted(self, node: ast.AST, loop: Turning, items: Iteration) -> None:
        if not loop.passes or not loop.relevant:
            return
        if not items.exact or self.scale.values:
            # Whether the last window is full depends on numbers that are not in the text.
            self.doubts.add("GL202")
        # A loop inside another that also steps is an epoch; one that only fills a window is not.
        if loop.loader or (loop.steps and self.loops):
            self.events.append(ev.EpochEnded(self.site(node), loop.number))
        loop.length, loop.label = items.length, items.label

    def _while(self, node: ast.While) -> Way | None:
        relevant = self.unit.touches_gradients(node.body)
        loop = self._begin(node, loader=False, exact=False, relevant=relevant)
        loop.endless = True
        loop.closes = "step(" not in self.unit.segment(node.body)
        turn = 0
        try:
            while True:
                limit = EPOCHS if loop.outer else self.scale.batches if relevant else 1
                if turn >= (MOST_IDLE if loop.idle and not loop.passes else limit):
                    break
                value = self._while_test(node)
                if value is False:
                    break
                turn += 1
                self.turns += 1
                loop.turn = self.turns
                said = len(self.events)
                way = self.execute(node.body)
                relevant = loop.relevant = relevant or len(self.events) > said
                if way is Way.BREAK:
                    return None
                if way is Way.RETURN:
                    return way
        finally:
            loop.length = turn
            self._end(loop)
        return self.execute(node.orelse) if node.orelse else None

    def _while_test(self, node: ast.While) -> bool:
        value = self.evaluate(node.test)
        known = self.known_truth(value)
        return True if known is None else known

    def iteration(self, value: Value, node: ast.AST) -> Iteration:
        """How a value is iterated over."""
        match value:
            case Iteration():
                return value
            case list() | tuple() | str():
                items = value
                return Iteration(
                    len(items), lambda i: items[i], endless=len(items) > 3 and all(map(_is_data, items))
                )
            case dict():
                keys = list(value)
                return Iteration(len(keys), lambda i: keys[i])
            case Instance(items=list() as items) if not isinstance(value.cls.find("__iter__"), Function):
                return self.iteration(items, node)
            case Loader():
                length = self.scale.batches if value.length is None else value.length
                batch = self.unknown(f"batch of {value.number}")
                return Iteration(length, lambda i: batch, value.length is not None, value, endless=True)
            case Parameters():
                element = Parameters(value.accounts, value.opaque, element=True)
                return Iteration(1, lambda i: element)
            case Model():
                children = value.children or [value]
                return Iteration(len(children), lambda i: children[i])
            case Tensor():
                part = self.tensor(value)
                known = value.rows is not None
                length = value.rows if value.rows is not None else self.scale.batches
                return Iteration(length, lambda i: part, exact=known, endless=True)
            case Unknown():
                element = self.unknown(f"elt({value.label})")  # type: ignore[assignment]
                loader = self._opaque_loader(value)
                return Iteration(
                    self.scale.batches, lambda i: element, exact=False, loader=loader, endless=True
                )
            case _:
                if isinstance(value, Instance):
                    self._watch_iterator(value)
                element = self.unknown(f"elt({self.at(node)})")  # type: ignore[assignment]
                loader = self._opaque_loader(self.unknown(f"iter {self.at(node)}"))
                return Iteration(
                    self.scale.batches, lambda i: element, exact=False, loader=loader, endless=True
                )

    def _watch_iterator(self, value: Instance) -> None:
        """An object that deals with gradients while it hands out its items cannot be followed."""
        for name in ("__iter__", "__next__", "__getitem__"):
            method = value.cls.find(name)
            body = method.node.body if isinstance(method, Function) else None
            if isinstance(method, Function) and isinstance(body, list) and method.unit.acts(body):
                self.leave_alone()

    def _opaque_loader(self, value: Unknown) -> Loader | None:
        if "elt(" in value.label or "batch of" in value.label:
            return None
        known = self.roles.get(f"loader {value.label}")
        if not isinstance(known, Loader):
            known = self.roles[f"loader {value.label}"] = self.loader()
        return known

    def _is_table(self, value: Value) -> bool:
        """Whether a loop over it goes through the keys of a table, such as of one loader for each task."""
        if not isinstance(value, Unknown):
            return isinstance(value, dict)
        uses = self.unit.uses.get(value.label.rsplit(".", 1)[-1], set())
        return bool(uses & _LISTS) or _LISTED.search(value.label) is not None

    def iterate(self, value: Value) -> Iterator[Value]:
        """The items of a value, for a comprehension or a small loop."""
        items = self.iteration(value, self.unit.tree.body[0])
        limit = 1 if items.endless and not items.exact else min(items.length, MOST_ITEMS)
        return (items.make(i) for i in range(limit))


def _is_data(item: Value) -> bool:
    if isinstance(item, tuple):
        return all(_is_data(part) for part in item)
    return isinstance(item, (Tensor, Unknown, int, float)) and not (isinstance(item, Unknown) and item.role)
