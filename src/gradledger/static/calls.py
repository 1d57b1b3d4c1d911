"""Calls in the small model, and objects of the classes of the source."""

from __future__ import annotations

import ast
import re

from gradledger.static.functions import Functions
from gradledger.static.python_calls import BUILTINS
from gradledger.static.values import (
    Args,
    Bound,
    Builtin,
    ClassValue,
    External,
    Function,
    Gradient,
    Instance,
    Model,
    Named,
    Optimizer,
    Tensor,
    Unknown,
    Value,
)

_LOSS = re.compile(r"loss|entropy|nll_|kl_div")


class Calls(Functions):
    """The part of the machine that calls."""

    def call(self, node: ast.Call) -> Value:
        """A call expression."""
        function = node.func
        if isinstance(function, ast.Attribute):
            callee = self.attribute(self.evaluate(function.value), function.attr, function)
        else:
            callee = self.evaluate(function)
        given = self.flag if _takes_flags(callee) else self.evaluate
        args: list[Value] = []
        for argument in node.args:
            if type(argument) is ast.Starred:
                value = self.evaluate(argument.value)
                args += value if isinstance(value, (list, tuple)) else [value]
            else:
                args.append(given(argument))
        kwargs: dict[str, Value] = {}
        for keyword in node.keywords:
            value = given(keyword.value)
            if keyword.arg is not None:
                kwargs[keyword.arg] = value
            elif isinstance(value, dict):
                kwargs.update({str(key): held for key, held in value.items()})
                if not all(str(key).isidentifier() for key in value):
                    kwargs["**"] = value  # under names that are not known
            else:
                kwargs["**"] = value
        for value in (*args, *kwargs.values()) if kwargs else args:
            if type(value) is Gradient:
                self.looked_at |= value.accounts
        return self.apply(callee, args, kwargs, node)

    def apply(self, function: Value, args: Args, kwargs: Named, node: ast.AST) -> Value:
        """Call a value."""
        kind = type(function)  # the usual kinds, quicker than by a match
        if kind is Bound:
            target = function.target
            if type(target) is str:
                return self.method(function.owner, target, args, kwargs, node)
            return self._method(function.owner, target, args, kwargs, node)
        if kind is External:
            return self.external(function.name, args, kwargs, node)
        if kind is Function:
            return self.run_function(function, args, kwargs, node)
        if kind is Builtin:
            value: Value = function.call(self, args, kwargs, node)
            return value
        match function:
            case ClassValue():
                return self.instantiate(function, args, kwargs, node)
            case Model():
                return self.forward(function, args, kwargs, node)
            case Instance():
                return self._call_instance(function, args, kwargs, node)
            case Unknown():
                return self._call_unknown(function, args, kwargs, node)
            case Optimizer():
                return function
            case Tensor() if function.serial in self.agents:
                return self.call_agent(function, args, kwargs, node)
            case _:
                return self.through(args, kwargs, node)

    def _call_instance(self, instance: Instance, args: Args, kwargs: Named, node: ast.AST) -> Value:
        forward = instance.cls.find("forward") if instance.cls.is_module else instance.cls.find("__call__")
        if isinstance(forward, Function) and (not instance.cls.is_module or self._does_more(forward)):
            return self.run_function(forward, [instance, *args], kwargs, node)
        if instance.cls.is_module:
            if isinstance(forward, Function) and not self.accounts_of(instance):
                return self.run_function(forward, [instance, *args], kwargs, node)
            whole = self.forward(instance, args, kwargs, node)
            if isinstance(forward, Function) and self._computes_loss(forward):
                parts = self.run_function(forward, [instance, *args], kwargs, node)
                if isinstance(parts, (Tensor, dict, tuple, list)):
                    self._tag_replicas(instance, parts)
                    return parts
            return whole
        return self.through(args, kwargs, node)

    def _tag_replicas(self, instance: Instance, parts: Value) -> None:
        for part in parts if isinstance(parts, (list, tuple)) else [parts]:
            if isinstance(part, Tensor) and instance.replicated:
                part.reduced = instance.sync and not instance.local

    def _computes_loss(self, forward: Function) -> bool:
        """Whether a model gives its own loss: what it returns is worth a closer look."""
        body = forward.node.body
        return isinstance(body, list) and _LOSS.search(forward.unit.segment(body)) is not None

    def instantiate(self, cls: ClassValue, args: Args, kwargs: Named, node: ast.AST) -> Value:
        """Make an object of a class of the source."""
        made = Instance(cls, serial=self.fresh(), label=f"{cls.node.name}")
        optimizer = self.as_optimizer(cls, args, kwargs, node)
        if optimizer is not None:
            return optimizer
        if any(isinstance(base, External) and ".lr_scheduler." in base.name for base in cls.bases):
            self.doubts.update(("GL205", "GL206"))  # of one's own making: it may want to be called first
            return self.external(f"torch.optim.lr_scheduler.{cls.node.name}", args, kwargs, node)
        start = cls.find("__init__")
        if any(base is BUILTINS["list"] for one in cls.lineage() for base in one.bases):
            made.items = [*args[0]] if args and isinstance(args[0], (list, tuple)) else []
        if isinstance(start, Function):
            self.run_function(start, [made, *args], kwargs, node)
        else:
            # A dataclass, or nothing to initialise.
            fields = [
                s.target.id
                for s in cls.node.body
                if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)
            ]
            made.attrs.update(zip(fields, args, strict=False))
            made.attrs.update({key: value for key, value in kwargs.items() if key != "**"})
            if isinstance(last := cls.find("__post_init__"), Function):
                self.run_function(last, [made], {}, node)
        if (
            cls.is_module
            and not self.accounts_of(made)
            and not cls.is_lightning
            and self._has_unseen_base(cls)
        ):
            made.attrs["own"] = self.open_account(cls.node.name, self.site(node), opaque=True)
        return made

    def _has_unseen_base(self, cls: ClassValue) -> bool:
        return any(
            isinstance(base, (External, Unknown))
            and not (isinstance(base, External) and base.name.endswith("nn.Module"))
            for one in cls.lineage()
            for base in one.bases
        )

    def lookup(self, name: str) -> Value:
        """What a name means that no scope holds."""
        found = BUILTINS.get(name)
        return self.unknown(name, fleeting=False) if found is None else found


def _takes_flags(callee: Value) -> bool:
    """Whether a function in sight deals with gradients: what it is told may decide when it steps."""
    if isinstance(callee, Bound):
        callee = callee.target
    elif isinstance(callee, Instance):
        callee = callee.cls.find("__call__")
    if not isinstance(callee, Function):
        return False
    body = callee.node.body
    return isinstance(body, list) and callee.unit.touches_gradients(body)
