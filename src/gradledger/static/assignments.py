"""Assignments in the small model, among them those that touch `.grad` and `.data`."""

from __future__ import annotations

import ast

from gradledger.ledger import events as ev
from gradledger.static.expressions import Expressions
from gradledger.static.reach import inherits_out_of_sight
from gradledger.static.unit import direct
from gradledger.static.values import (
    NOTHING,
    Accounts,
    Bound,
    ClassValue,
    Function,
    Gradient,
    Instance,
    Model,
    Optimizer,
    Parameters,
    Scope,
    Tensor,
    Unknown,
    Value,
)


class Assignments(Expressions):
    """The part of the machine that binds values."""

    def _assign(self, node: ast.Assign) -> None:
        value = self.flag(node.value)
        if isinstance(node.value, ast.GeneratorExp) and direct(self.unit.written(node.value)):
            self.leave_alone()  # it acts when it is iterated over, not here
        for target in node.targets:
            if self.keepings:
                self._rebind(target, node, value)
            self._note_sum(target, node, value)
            self.bind(target, value)

    def _rebind(self, target: ast.expr, node: ast.Assign, value: Value) -> None:
        """What a name held goes with its new value, unless that is made of it."""
        name = target.id if type(target) is ast.Name else self.unit.written(target)
        if isinstance(value, Tensor) and value.deps:
            if name not in self.kept_names:
                return
            read = (part for part in ast.walk(node.value) if type(part) is type(target))
            if any(self.unit.written(part) == name for part in read):
                return
        self.rebound(name)

    def flag(self, node: ast.expr) -> Value:
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
        if not isinstance(value, Tensor) or not value.deps or not isinstance(node.value, ast.BinOp):
            return
        if not isinstance(node.value.op, ast.Add) or isinstance(target, (ast.Tuple, ast.List)):
            return
        name = self.unit.written(target)
        parts = (part for part in ast.walk(node.value) if type(part) is type(target))
        if not any(self.unit.written(part) == name for part in parts):
            return
        before = self.evaluate(target)
        if isinstance(before, Tensor) and before.deps:
            self.keeps(node, name, node, value, value)

    def _augmented(self, node: ast.AugAssign) -> None:
        added = self.evaluate(node.value)
        target = node.target
        if isinstance(target, ast.Attribute) and target.attr == "grad":
            owner = self.evaluate(target.value)
            gradient = self.attribute(owner, "grad", target)
            if isinstance(gradient, Gradient):
                by = self.number(added)
                divided = (
                    by
                    if isinstance(node.op, ast.Div) and isinstance(by, int) and not isinstance(by, bool)
                    else 0
                )
                self.read_gradient(gradient, node)
                self.changed(node, gradient.accounts, divided_by=divided)
                return
        if (
            isinstance(target, ast.Subscript)
            and isinstance(target.slice, ast.Constant)
            and target.slice.value == "lr"
        ):
            self.unlinked.add("GL201")  # the sum of a window may be meant
        before = self.evaluate(target)
        if isinstance(before, Gradient):
            self.changed(node, before.accounts)
            return
        if isinstance(before, Parameters) or (isinstance(before, Tensor) and before.leaf is not None):
            down = isinstance(node.op, ast.Sub) != (isinstance(added, Tensor) and added.negative)
            if isinstance(added, Tensor) and added.made_of and down:
                self.stepped_by_hand(node, added.made_of)
            elif isinstance(added, Gradient) and down:
                self.stepped_by_hand(node, added.accounts)
            elif isinstance(before, Parameters):
                # By something that the program has made of whatever it liked.
                self.events.append(ev.ParametersMoved(None, tuple(sorted(self.resolve(before.accounts)))))
            return
        if isinstance(before, list) and isinstance(added, (list, tuple)) and isinstance(node.op, ast.Add):
            before.extend(added[:50])
            return
        value = self.binary(node.op, before, added, node)
        if isinstance(added, Tensor) and isinstance(value, Tensor) and isinstance(node.op, ast.Add):
            name = ast.unparse(target)
            # What is summed up within one turn of the loop is an ordinary loss of several terms.
            held = isinstance(before, Tensor) and bool(before.deps)
            self.keeps(node, name, node, added, value, fresh=not held)
        self.bind(target, value)

    def bind(self, target: ast.expr, value: Value) -> None:
        """Assign to a target."""
        match target:
            case ast.Name():
                scope = self.scope.declared.get(target.id, self.scope)
                before = scope.names.get(target.id)
                scope.names[target.id] = value
                if isinstance(before, (Model, Instance)) and isinstance(value, (Model, Instance)):
                    self._replaced(before, value)
                self._hidden(before, value)
            case ast.Tuple() | ast.List():
                self._unpack(target.elts, value)
            case ast.Attribute():
                self.set_attribute(self.evaluate(target.value), target.attr, value, target)
            case ast.Subscript():
                self._set_item(self.evaluate(target.value), target, value)
            case ast.Starred():
                self.bind(target.value, value)

    def _replaced(self, before: Value, after: Value) -> None:
        """A name was given another model: the old one's parameters may belong to nobody now."""
        gone = self.accounts_of(before)
        if before is after or not gone or not gone.isdisjoint(self.accounts_of(after, hidden=True)):
            return
        scope: Scope | None = self.scope
        while scope is not None:
            for value in scope.names.values():
                gone -= self.accounts_of(value, hidden=True) if not isinstance(value, Optimizer) else NOTHING
                if isinstance(value, Instance) and not value.cls.is_module:
                    gone -= self.accounts_of(list(value.attrs.values()), hidden=True)
            scope = scope.outer
        for optimizer in self.optimizers:
            lost = gone & (optimizer.accounts or NOTHING)
            if lost and self.depth == 0:
                self.bereaved[optimizer.number] = lost  # said once it steps again: it may be replaced, too

    def _hidden(self, before: Value, after: Value) -> None:
        """Something unseen took a model's place: it may be the very model, or have its parameters."""
        if isinstance(after, Unknown) and isinstance(before, (Model, Instance)):
            held = frozenset().union(*(optimizer.accounts or NOTHING for optimizer in self.optimizers))
            if held & self.accounts_of(before):
                self.doubts.update(("GL106", "GL304", "GL402", "GL403", "GL404"))

    def _outdated(self, before: Value, after: Value) -> None:
        """An attribute was given another model: optimizers of the old one have lost it."""
        if not isinstance(before, (Model, Instance)) or not isinstance(after, (Model, Instance)):
            return
        gone = self.accounts_of(before)
        if gone and gone.isdisjoint(self.accounts_of(after, hidden=True)):
            for optimizer in self.optimizers:
                optimizer.bereft = optimizer.bereft or gone >= (optimizer.accounts or gone | {-1})

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
                part: Value = self.tensor(
                    value, reduction=value.reduction if number == 0 else "unknown", presumed=True
                )
            elif isinstance(value, Unknown):
                part = value.attrs.get(f"[{number}]") or self.unknown(f"{value.label}[{number}]")
            else:
                part = self.unknown(f"{self.label(value)}[{number}]")
            self.bind(target, part)

    def set_attribute(self, owner: Value, name: str, value: Value, node: ast.AST) -> None:
        """`owner.name = value`."""
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
        if name == "data" and isinstance(owner, Parameters):
            self.overwritten(node, owner.accounts)
        if name == "require_backward_grad_sync" and isinstance(owner, (Model, Instance)):
            owner.sync = value if isinstance(value, bool) else True
            return
        if isinstance(owner, (Instance, Unknown, Model, Optimizer)):
            self._set_part(owner, name, value, node)
        elif isinstance(owner, ClassValue):
            owner.attrs[name] = value
        elif isinstance(value, (Function, Bound)) or name in ("step", "zero_grad", "backward"):
            self.leave_alone()  # something of torch's was replaced

    def _set_part(
        self, owner: Instance | Unknown | Model | Optimizer, name: str, value: Value, node: ast.AST
    ) -> None:
        """An object was given an attribute of its own."""
        if isinstance(owner, Unknown) and isinstance(value, (Model, Instance)):
            self.model_account(owner)
        elif isinstance(owner, Unknown):
            self.put_out_of_sight(value)
        if (
            isinstance(owner, Model)
            and name == "weight"
            and isinstance(value, Parameters)
            and len(value.accounts) == 1
        ):
            owner.account = min(value.accounts)  # tied weights
            return
        if isinstance(value, Optimizer) and isinstance(owner, Instance) and inherits_out_of_sight(owner.cls):
            self.doubts.add("GL404")  # what the object inherits may step it
        if isinstance(owner, Instance) and not owner.cls.is_module:
            self._outdated(owner.attrs.get(name), value)
            self._hidden(owner.attrs.get(name), value)
        setter = owner.cls.find(name) if isinstance(owner, Instance) else None
        if isinstance(setter, Function) and setter.setter is not None:
            self.apply(setter.setter, [owner, value], {}, node)
            return
        owner.attrs[name] = value
        if isinstance(value, (Model, Instance)) and not isinstance(owner, Optimizer):
            self.used.clear()  # its new part may be used as well

    def delete_attribute(self, owner: Value, name: str, node: ast.AST) -> None:
        """`del owner.name`."""
        if name == "grad":
            self._set_gradient(owner, None, node)
        elif isinstance(owner, (Instance, Unknown, Model, Optimizer, ClassValue)):
            owner.attrs.pop(name, None)

    def _delete_item(self, owner: Value, target: ast.Subscript) -> None:
        """`del owner[…]`."""
        if isinstance(owner, list) and isinstance(target.slice, ast.Slice):
            if target.slice.lower is target.slice.upper is None:
                owner.clear()
                self.emptied(owner)
            return
        index = self.evaluate(target.slice)
        if isinstance(owner, dict) and isinstance(index, (str, int)):
            owner.pop(index, None)
        elif isinstance(owner, list) and isinstance(index, int) and -len(owner) <= index < len(owner):
            del owner[index]

    def put_out_of_sight(self, value: Value) -> None:
        """Something unseen holds on to parameters, or what was computed by them, and may hand it on."""
        if (isinstance(value, (Parameters, Tensor, Model, Instance))) and self.accounts_reached(value):
            self.doubts.update(("GL106", "GL304", "GL309", "GL402", "GL404"))

    def accounts_reached(self, value: Value) -> Accounts:
        """The accounts of parameters, or those that something was computed by."""
        if isinstance(value, Parameters):
            return value.accounts
        return value.deps if isinstance(value, Tensor) else self.accounts_of(value)

    def _set_gradient(self, owner: Value, value: Value, node: ast.AST) -> None:
        gradient = self.attribute(owner, "grad", node)
        if not isinstance(gradient, Gradient):
            if value is None:
                self.doubts.update(("GL101", "GL401"))  # whose it is cannot be told
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
            whole = target.slice.lower is target.slice.upper is target.slice.step is None
            if isinstance(owner, list) and whole and isinstance(value, (list, tuple)):
                owner[:] = value
            elif isinstance(owner, list):
                self.forget(owner)
            return
        index = self.evaluate(target.slice)
        if index == "params" and isinstance(value, (Parameters, list, tuple)):
            self.unlinked.update(("GL106", "GL309", "GL402", "GL403", "GL404"))  # an optimizer's, it may be
        if isinstance(owner, dict):
            owner[index if isinstance(index, (str, int, float, type(None))) else self.label(index)] = value
        elif isinstance(owner, list) and isinstance(index, int) and -len(owner) <= index < len(owner):
            owner[index] = value
        elif isinstance(owner, Unknown):
            owner.attrs[f"[{self.label(index)}]"] = value
            self.put_out_of_sight(value)
        elif isinstance(owner, Model):
            self.used.clear()  # its new part may be used as well
            if isinstance(index, int) and -len(owner.children) <= index < len(owner.children):
                owner.children[index] = value
            else:
                owner.attrs[str(index)] = value
        elif not isinstance(owner, (list, Tensor, Parameters)):
            self.put_out_of_sight(value)
