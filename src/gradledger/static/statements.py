"""Statements in the small model."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from enum import Enum
from typing import Any

from gradledger.ledger import events as ev
from gradledger.static.expressions import Expressions
from gradledger.static.scale import EPOCHS
from gradledger.static.state import Leave, Turning
from gradledger.static.values import (
    ClassValue,
    External,
    Function,
    Gradient,
    Instance,
    Iteration,
    Loader,
    Model,
    Optimizer,
    Parameters,
    Scope,
    Tensor,
    Unknown,
    Accounts,
    Value,
)

MOST_ITEMS = 24


class Way(Enum):
    """How a block was left before its end."""

    BREAK = 1
    CONTINUE = 2
    RETURN = 3


class Statements(Expressions):
    """The part of the machine that executes."""

    returned: Value = None

    def execute(self, body: list[ast.stmt]) -> Way | None:
        """Run statements until one leaves."""
        for node in body:
            self.spend()
            handler = _HANDLERS.get(type(node))
            if handler is not None:
                way: Way | None = handler(self, node)
                if way is not None:
                    return way
        return None

    # -- parts that other files provide ---------------------------------------------------------------------

    def is_model(self, value: Unknown) -> bool:
        """Whether something unseen is used as a model."""
        raise NotImplementedError

    def enter(self, value: Value, node: ast.AST) -> Value:
        """`with value as …`."""
        raise NotImplementedError

    def leave(self, value: Value, node: ast.AST) -> None:
        """The end of the `with`."""
        raise NotImplementedError

    def import_module(self, node: ast.Import | ast.ImportFrom) -> None:
        """An import statement."""
        raise NotImplementedError

    # -- assignments ----------------------------------------------------------------------------------------

    def _assign(self, node: ast.Assign) -> None:
        value = self._flag(node.value)
        for target in node.targets:
            self._note_sum(target, node, value)
            self.bind(target, value)

    def _flag(self, node: ast.expr) -> Value:
        """A value; if it is a condition inside the training loop, a flag that may guard the step."""
        if isinstance(node, (ast.Compare, ast.BoolOp)) and any(loop.relevant for loop in self.loops):
            before, self.guarding = self.guarding, True
            try:
                return self.evaluate(node)
            finally:
                self.guarding = before
        return self.evaluate(node)

    def _annotated(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.bind(node.target, self.evaluate(node.value))

    def _note_sum(self, target: ast.expr, node: ast.Assign, value: Value) -> None:
        """`total = total + loss` keeps the graph as `total += loss` does."""
        if not isinstance(value, Tensor) or not isinstance(target, ast.Name) or not isinstance(node.value, ast.BinOp):
            return
        if not isinstance(node.value.op, ast.Add) or not value.deps:
            return
        named = any(isinstance(part, ast.Name) and part.id == target.id for part in ast.walk(node.value))
        before = self.scope.names.get(target.id)
        if named and isinstance(before, Tensor) and before.deps:
            self.keeps(node, target.id, id(node), value, value)

    def _augmented(self, node: ast.AugAssign) -> None:
        added = self.evaluate(node.value)
        target = node.target
        if isinstance(target, ast.Attribute) and target.attr == "grad":
            owner = self.evaluate(target.value)
            gradient = self.attribute(owner, "grad", target)
            if isinstance(gradient, Gradient):
                by = self.number(added)
                divided = by if isinstance(node.op, ast.Div) and isinstance(by, int) and not isinstance(by, bool) else 0
                self.read_gradient(gradient, node)
                self.changed(node, gradient.accounts, divided_by=divided)
                return
        before = self.evaluate(_loaded(target))
        if isinstance(before, Gradient):
            self.changed(node, before.accounts)
            return
        if isinstance(before, Parameters) or (isinstance(before, Tensor) and before.leaf is not None):
            down = isinstance(node.op, ast.Sub) != (isinstance(added, Tensor) and added.negative)
            if isinstance(added, Tensor) and added.made_of and down:
                self.stepped_by_hand(node, added.made_of)
            elif isinstance(added, Gradient) and down:
                self.stepped_by_hand(node, added.accounts)
            return
        if isinstance(before, list) and isinstance(added, (list, tuple)) and isinstance(node.op, ast.Add):
            before.extend(added[:50])
            return
        value = self.binary(node.op, before, added, node)
        if isinstance(added, Tensor) and isinstance(value, Tensor) and isinstance(node.op, ast.Add):
            name = ast.unparse(target)
            # What is summed up within one turn of the loop is an ordinary loss of several terms.
            self.keeps(node, name, id(node), added, value)
        self.bind(target, value)

    def bind(self, target: ast.expr, value: Value) -> None:
        """Assign to a target."""
        match target:
            case ast.Name():
                scope = self.scope.declared.get(target.id, self.scope)
                scope.names[target.id] = value
            case ast.Tuple() | ast.List():
                self._unpack(target.elts, value)
            case ast.Attribute():
                self._set_attribute(self.evaluate(target.value), target.attr, value, target)
            case ast.Subscript():
                self._set_item(self.evaluate(target.value), target, value)
            case ast.Starred():
                self.bind(target.value, value)

    def _unpack(self, targets: list[ast.expr], value: Value) -> None:
        if isinstance(value, (list, tuple)):
            star = next((i for i, t in enumerate(targets) if isinstance(t, ast.Starred)), None)
            if star is not None and len(value) >= len(targets) - 1:
                after = len(targets) - star - 1
                middle = list(value[star : len(value) - after])
                value = [*value[:star], middle, *(value[len(value) - after :] if after else [])]
            if len(value) == len(targets):
                for target, item in zip(targets, value, strict=True):
                    self.bind(target, item)
                return
        for number, target in enumerate(targets):
            if isinstance(value, Tensor):
                part: Value = self.tensor(value, reduction=value.reduction if number == 0 else "unknown", presumed=True)
            elif isinstance(value, Unknown):
                part = value.attrs.get(f"[{number}]") or self.unknown(f"{value.label}[{number}]")
            else:
                part = self.unknown(f"{self.label(value)}[{number}]")
            self.bind(target, part)

    def _set_attribute(self, owner: Value, name: str, value: Value, node: ast.Attribute) -> None:
        if name in ("grad", "_grad"):
            self._set_gradient(owner, value, node)
            return
        if name == "requires_grad":
            self.require_gradients(owner, value, node)
            return
        if name == "data" and isinstance(value, Tensor) and value.made_of:
            if value.negative:
                self.stepped_by_hand(node, value.made_of)
            return
        if name == "require_backward_grad_sync" and isinstance(owner, (Model, Instance)):
            owner.sync = value if isinstance(value, bool) else True
            return
        if isinstance(owner, (Instance, Unknown, Model, Optimizer)):
            if isinstance(owner, Unknown) and isinstance(value, (Model, Instance)):
                self.model_account(owner)
            if isinstance(owner, Model) and name == "weight" and isinstance(value, Parameters) and len(value.accounts) == 1:
                owner.account = min(value.accounts)  # tied weights
                return
            owner.attrs[name] = value
        elif isinstance(owner, ClassValue):
            owner.attrs[name] = value

    def _set_gradient(self, owner: Value, value: Value, node: ast.Attribute) -> None:
        gradient = self.attribute(owner, "grad", node)
        if not isinstance(gradient, Gradient):
            if isinstance(owner, Unknown):
                owner.attrs["grad"] = value
            return
        if value is None:
            self.cleared(node, gradient.accounts, "hand")
        elif isinstance(value, Tensor) and value.made_of and value.made_of == gradient.accounts:
            self.changed(node, gradient.accounts)
        else:
            accounts = self.resolve(gradient.accounts)
            for number in accounts:
                self.boxes[number].content = "held"
            self.events.append(ev.GradientAssigned(self.site(node), tuple(sorted(accounts))))
            self.made_by_hand(accounts)

    def made_by_hand(self, accounts: Accounts) -> None:
        """Gradients of the program's own making: what is in them cannot be told."""
        for number in accounts:
            self.boxes[number].by_hand = True

    def require_gradients(self, owner: Value, value: Value, node: ast.AST) -> None:
        """`requires_grad` was set."""
        if isinstance(owner, Unknown) and owner.account is None and self.is_model(owner):
            self.model_account(owner)
        accounts = owner.accounts if isinstance(owner, Parameters) else self.accounts_of(owner)
        if accounts and not (isinstance(owner, Unknown) and owner.role is None and owner.account is None):
            if value is False:
                self.frozen |= accounts
            elif value is True:
                self.frozen -= accounts
            else:
                self.doubts.add("GL401")
                self.doubts.add("GL402")
            return
        if value is True:
            number = self.open_account(self.label(owner), self.site(node), data=True)
            if isinstance(owner, Tensor):
                owner.leaf = number
                owner.deps |= {number}
            elif isinstance(owner, Unknown):
                owner.account, owner.role = number, "leaf"

    def _set_item(self, owner: Value, target: ast.Subscript, value: Value) -> None:
        if isinstance(target.slice, ast.Slice):
            return
        index = self.evaluate(target.slice)
        if isinstance(owner, dict):
            owner[index if isinstance(index, (str, int, float, type(None))) else self.label(index)] = value
        elif isinstance(owner, list) and isinstance(index, int) and -len(owner) <= index < len(owner):
            owner[index] = value
        elif isinstance(owner, Unknown):
            owner.attrs[f"[{self.label(index)}]"] = value
        elif isinstance(owner, Model):
            if isinstance(index, int) and -len(owner.children) <= index < len(owner.children):
                owner.children[index] = value
            else:
                owner.attrs[str(index)] = value

    # -- definitions ----------------------------------------------------------------------------------------

    def _define(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.scope.names[node.name] = self.function_value(node, None)

    def function_value(self, node: ast.FunctionDef | ast.AsyncFunctionDef, owner: ClassValue | None) -> Function:
        """A function as its definition makes it."""
        made = Function(node, self.unit, self.scope, owner)
        made.defaults = tuple(self.evaluate(default) for default in node.args.defaults)
        made.keyword_defaults = tuple(
            self.unknown("no default") if default is None else self.evaluate(default)
            for default in node.args.kw_defaults
        )
        for decorator in reversed(node.decorator_list):
            text = ast.unparse(decorator)
            if isinstance(wrapper := self._decorator(decorator), Function):
                wrapped = self.apply(wrapper, [made], {}, node)
                if isinstance(wrapped, Function):
                    wrapped.owner = owner
                    made = wrapped
            elif text in ("staticmethod", "classmethod", "property", "cached_property", "functools.cached_property"):
                made.kind = {"staticmethod": "static", "classmethod": "class"}.get(text, "property")  # type: ignore[assignment]
            elif "no_grad" in text or "inference_mode" in text:
                made.no_grad = True
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
            made.is_module = made.is_module or name.endswith(("Module", "PreTrainedModel", "Sequential", "ModuleList"))
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
            elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and statement.value:
                made.attrs[statement.target.id] = self.evaluate(statement.value)
        outer.names[node.name] = made

    # -- branches -------------------------------------------------------------------------------------------

    def _if(self, node: ast.If) -> Way | None:
        unit = self.unit
        relevant = unit.touches_gradients(node.body) or unit.touches_gradients(node.orelse)
        leaving = unit.leaves(node.body)
        if leaving and (self.loops or self.running) and self._here_matters():
            relevant = True
        # The arm that goes on is the likelier one.
        default = not (leaving and not unit.leaves(node.orelse))
        before, self.guarding = self.guarding, relevant
        choices = len(self.decided)
        try:
            taken = self.truth(node.test, relevant=relevant, default=default)
        finally:
            self.guarding = before
        concrete = len(self.decided) == choices
        self.outcomes.setdefault(id(node), set()).add(taken)
        if concrete and leaving and relevant and self.loops and len(self.outcomes[id(node)]) > 1:
            self.loops[-1].guarded = True
        self.ifs.append((node, concrete and taken))
        try:
            return self.execute(node.body if taken else node.orelse)
        finally:
            self.ifs.pop()

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
                    known = self.decide(self.label(same), value, relevant=self.unit.touches_gradients(case.body), default=False)
                if known:
                    return self.execute(case.body)
            elif type(pattern).__name__ == "MatchAs":
                return self.execute(case.body)
        return None

    # -- loops ----------------------------------------------------------------------------------------------

    def _for(self, node: ast.For | ast.AsyncFor) -> Way | None:
        value = self.evaluate(node.iter)
        items = self.iteration(value, node)
        relevant = self.unit.touches_gradients(node.body)
        loop = self._begin(node, loader=items.loader is not None, exact=items.exact, relevant=relevant)
        loop.endless = items.endless
        if relevant and loop.endless:
            loop.micro, loop.closes = self.unit.heads(node)
        if items.loader is not None:
            loop.number = items.loader.number
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
            self.loops.pop()
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

    def _exhausted(self, node: ast.AST, loop: Turning, items: Iteration) -> None:
        if not loop.passes or not loop.relevant:
            return
        if not items.exact or self.scale.values:
            # Whether the last window is full depends on numbers that are not in the text.
            self.doubts.add("GL202")
        if loop.loader:
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
                if turn >= limit:
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
            self.loops.pop()
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
                return Iteration(len(items), lambda i: items[i], endless=len(items) > 3 and all(map(_is_data, items)))
            case dict():
                keys = list(value)
                return Iteration(len(keys), lambda i: keys[i])
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
                return Iteration(self.scale.batches, lambda i: element, exact=False, loader=loader, endless=True)
            case _:
                element = self.unknown(f"elt({self.at(node)})")  # type: ignore[assignment]
                loader = self._opaque_loader(self.unknown(f"iter {self.at(node)}"))
                return Iteration(self.scale.batches, lambda i: element, exact=False, loader=loader, endless=True)

    def _opaque_loader(self, value: Unknown) -> Loader | None:
        if "elt(" in value.label or "batch of" in value.label:
            return None
        known = self.roles.get(f"loader {value.label}")
        if not isinstance(known, Loader):
            known = self.roles[f"loader {value.label}"] = self.loader()
        return known

    def iterate(self, value: Value) -> Iterator[Value]:
        """The items of a value, for a comprehension or a small loop."""
        items = self.iteration(value, self.unit.tree.body[0])
        limit = 1 if items.endless and not items.exact else min(items.length, MOST_ITEMS)
        return (items.make(i) for i in range(limit))

    # -- with, try, the rest ----------------------------------------------------------------------------------

    def _with(self, node: ast.With | ast.AsyncWith) -> Way | None:
        entered: list[Value] = []
        try:
            for item in node.items:
                value = self.evaluate(item.context_expr)
                bound = self.enter(value, item.context_expr)
                entered.append(value)
                if item.optional_vars is not None:
                    self.bind(item.optional_vars, bound)
            return self.execute(node.body)
        finally:
            for value in reversed(entered):
                self.leave(value, node)

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
        if isinstance(node.value, ast.Constant) or self.unit.inert(node):
            return
        value = node.value
        if isinstance(value, ast.Attribute) and value.attr == "zero_grad":
            self.events.append(ev.ClearNotCalled(self.site(value), ast.unparse(value)))
            return
        self.discarding = value if isinstance(value, ast.Call) else None
        self.evaluate(value)

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


def _is_data(item: Value) -> bool:
    if isinstance(item, tuple):
        return all(_is_data(part) for part in item)
    return isinstance(item, (Tensor, Unknown, int, float)) and not (isinstance(item, Unknown) and item.role)


def _loaded(target: ast.expr) -> ast.expr:
    return target


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
