"""Calls in the small model: functions and classes of the source, and Python's own."""

from __future__ import annotations

import ast
import re
from typing import Any

from gradledger.static.statements import Statements, Way
from gradledger.static.values import (
    Bound,
    Builtin,
    ClassValue,
    Context,
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
    Scope,
    Super,
    Tensor,
    Unknown,
    Value,
)

DEEPEST = 14
_MODEL_USES = frozenset(
    {"parameters", "train", "eval", "zero_grad", "state_dict", "load_state_dict", "named_parameters", "module", "no_sync"}
)
_MODEL_NAME = re.compile(r"model|net|encoder|decoder|generator|discriminator|critic|actor|policy|backbone|head|^[DG]$", re.IGNORECASE)
_LOSS = re.compile(r"loss|entropy|nll_|kl_div")
_STEPS = re.compile(r"step|backward|zero|optimi[sz]|train|update|scaler|fit", re.IGNORECASE)


class Calls(Statements):
    """The part of the machine that calls."""

    def call(self, node: ast.Call) -> Value:
        """A call expression."""
        callee = self.evaluate(node.func)
        args: list[Value] = []
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                value = self.evaluate(argument.value)
                args += value if isinstance(value, (list, tuple)) else [value]
            else:
                args.append(self.evaluate(argument))
        kwargs: dict[str, Value] = {}
        for keyword in node.keywords:
            value = self.evaluate(keyword.value)
            if keyword.arg is not None:
                kwargs[keyword.arg] = value
            elif isinstance(value, dict):
                kwargs.update({str(key): held for key, held in value.items()})
            else:
                kwargs["**"] = value
        return self.apply(callee, args, kwargs, node)

    def apply(self, function: Value, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
        """Call a value."""
        match function:
            case Function():
                return self.run_function(function, args, kwargs, node)
            case Bound(target=Function()):
                target = function.target
                assert isinstance(target, Function)
                return self._method(function.owner, target, args, kwargs, node)
            case Bound():
                assert isinstance(function.target, str)
                return self.method(function.owner, function.target, args, kwargs, node)
            case Builtin():
                return function.call(self, args, kwargs, node)
            case External():
                return self.external(function.name, args, kwargs, node)
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
            case _:
                return self.through(args, kwargs, node)

    # -- parts that other files provide ---------------------------------------------------------------------

    def method(self, owner: Value, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
        """A method of something that is not in the source."""
        raise NotImplementedError

    def external(self, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
        """Something imported."""
        raise NotImplementedError

    def forward(self, model: Value, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
        """`model(x)`."""
        raise NotImplementedError

    # -- functions of the source ------------------------------------------------------------------------------

    def run_function(self, function: Function, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
        """Call a function of the source."""
        code = function.node
        if self.depth >= DEEPEST or sum(running.node is code for running in self.running) >= 2:
            return self.through(args, kwargs, node)
        scope = Scope(function.scope)
        self._bind_arguments(function, scope, args, kwargs)
        self.ran.add(id(code))
        if not isinstance(code, ast.Lambda) and _is_generator(function):
            if any("contextmanager" in ast.unparse(d) for d in code.decorator_list):
                return Context("source", (function, scope))
            if function.unit.touches_gradients(code.body):
                self.leave_alone()
            return self.unknown(f"{code.name}() {self.at(code)}")
        saved = self.scope, self.function, self.unit, self.returned
        self.scope, self.unit, self.returned = scope, function.unit, None
        self.function = getattr(code, "name", "<lambda>")
        self.depth += 1
        self.no_grad += function.no_grad
        self.running.append(function)
        try:
            if isinstance(code, ast.Lambda):
                return self.evaluate(code.body)
            self.execute(code.body)
            return self.returned
        finally:
            self.running.pop()
            self.no_grad -= function.no_grad
            self.depth -= 1
            self.scope, self.function, self.unit, self.returned = saved

    def _bind_arguments(self, function: Function, scope: Scope, args: list[Value], kwargs: dict[str, Value]) -> None:
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
            else:
                value = self.parameter(name, function)
            scope.names[name.arg] = value
        for name, default in zip(spec.kwonlyargs, function.keyword_defaults, strict=False):
            value = given.pop(name.arg, default)
            scope.names[name.arg] = value
        if spec.vararg is not None:
            scope.names[spec.vararg.arg] = list(args[len(names) :])
        if spec.kwarg is not None:
            scope.names[spec.kwarg.arg] = given

    def parameter(self, name: ast.arg, function: Function) -> Value:
        """What arrives under a parameter's name when nobody in sight calls the function."""
        return self.unknown(name.arg)

    def _method(self, owner: Value, function: Function, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
        code = function.node
        assert not isinstance(code, ast.Lambda)
        if isinstance(owner, Instance) and owner.cls.is_module and not self._does_more(function):
            if code.name in ("parameters", "named_parameters", "trainable_parameters"):
                return self.run_function(function, [owner, *args], kwargs, node)
            if code.name.startswith(("__init__", "_init", "init", "freeze", "unfreeze", "build", "configure", "setup", "set_", "get_", "requires")):
                return self.run_function(function, [owner, *args], kwargs, node)
            if "param" in code.name or "parameters(" in function.unit.segment(code.body):
                return self.run_function(function, [owner, *args], kwargs, node)
            return self.forward(owner, args, kwargs, node, code.name)
        return self.run_function(function, [owner, *args], kwargs, node)

    def _does_more(self, function: Function) -> bool:
        """Whether a method of a model does more than compute: it steps, clears or freezes."""
        body = function.node.body
        return isinstance(body, list) and function.unit.touches_gradients(body)

    def _call_instance(self, instance: Instance, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
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

    def instantiate(self, cls: ClassValue, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
        """Make an object of a class of the source."""
        made = Instance(cls, serial=self.fresh(), label=f"{cls.node.name}")
        optimizer = self.as_optimizer(cls, args, kwargs, node)
        if optimizer is not None:
            return optimizer
        start = cls.find("__init__")
        if isinstance(start, Function):
            self.run_function(start, [made, *args], kwargs, node)
        else:
            # A dataclass, or nothing to initialise.
            fields = [s.target.id for s in cls.node.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)]
            made.attrs.update(zip(fields, args, strict=False))
            made.attrs.update({key: value for key, value in kwargs.items() if key != "**"})
        if cls.is_module and not self.accounts_of(made) and not cls.is_lightning and self._has_unseen_base(cls):
            made.attrs["own"] = self.open_account(cls.node.name, self.site(node), opaque=True)
        return made

    def _has_unseen_base(self, cls: ClassValue) -> bool:
        return any(
            isinstance(base, (External, Unknown)) and not (isinstance(base, External) and base.name.endswith("nn.Module"))
            for one in cls.lineage()
            for base in one.bases
        )

    def as_optimizer(self, cls: ClassValue, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Optimizer | None:
        """An optimizer of the user's own making."""
        raise NotImplementedError

    # -- the unknown ------------------------------------------------------------------------------------------

    def _call_unknown(self, callee: Unknown, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
        if callee.label.endswith((".zero_grad", ".step", ".backward", ".parameters", ".train", ".eval")) or "." in callee.label:
            owner_label, _, name = callee.label.rpartition(".")
            owner = self.unknowns.get(owner_label)
            if owner is not None and owner is not callee:
                return self.method(owner, name, args, kwargs, node)
        if self.discarding is node and any(isinstance(value, Tensor) and value.deps for value in args):
            self.leave_alone()
        self.watch_out(callee.label, args, kwargs)
        if self.is_model(callee):
            return self.forward(callee, args, kwargs, node)
        return self.through(args, kwargs, node, callee.label)

    def leave_alone(self) -> None:
        """Something that cannot be seen takes part in the cycle: nothing can be said of these optimizers."""
        self.hooked = True

    def is_model(self, value: Unknown) -> bool:
        """Whether something unseen is used as a model."""
        if value.account is not None and value.role is None:
            return True
        name = re.split(r"[.\]]", value.label.rstrip("]"))[-1] if "@" not in value.label else ""
        uses = self.unit.uses.get(name, frozenset())
        if "(" in name:
            return False
        return bool(uses & _MODEL_USES) or bool(_MODEL_NAME.search(name)) and "loss" not in name.lower()

    def watch_out(self, name: str, args: list[Value], kwargs: dict[str, Value]) -> None:
        """Something that cannot be seen is given an optimizer: it may do anything with it."""
        given = [*args, *kwargs.values()]
        optimizers = [value for value in given if isinstance(value, Optimizer)]
        unseen = [v for v in given if isinstance(v, Unknown) and isinstance(v.role, Optimizer)]
        optimizers += [value.role for value in unseen]
        if not optimizers:
            return
        losses = any(isinstance(value, Tensor) and value.deps for value in given)
        last = name.rsplit(".", 1)[-1]
        if losses or (_STEPS.search(last) and not re.search(r"sched|lr|warmup|resume|load|save", last, re.IGNORECASE)):
            for optimizer in optimizers:
                optimizer.untold = True

    def through(self, args: list[Value], kwargs: dict[str, Value], node: ast.AST, label: str = "") -> Value:
        """What comes out of a call that cannot be seen: it may depend on everything that went in."""
        given = [*args, *kwargs.values()]
        flat = [item for value in given for item in (value if isinstance(value, (list, tuple)) else [value])]
        flat += [item for value in given if isinstance(value, dict) for item in value.values()]
        tensors = [v for v in flat if isinstance(v, Tensor) and (v.deps or v.opaque)]
        tensors += [v for v in flat if isinstance(v, Unknown) and v.role == "leaf"]
        models = [v for v in flat if isinstance(v, (Model, Instance)) or (isinstance(v, Unknown) and v.account is not None and v.role is None)]
        deps = frozenset().union(*(self.live(self.accounts_of(model)) for model in models)) if models else frozenset()
        if tensors or (deps and not self.no_grad):
            made = self.tensor(*tensors)
            made.deps |= deps if not self.no_grad else frozenset()
            made.presumed = True
            made.reduction = "mean" if "loss" in label.lower() or "criterion" in label.lower() else "unknown"
            if made.reduction == "unknown":
                made.factor = None if any(t.reduction != "unknown" for t in tensors if isinstance(t, Tensor)) else 1.0
            return made
        return self.unknown(f"{label}(){self.at(node)}")

    # -- names ------------------------------------------------------------------------------------------------

    def lookup(self, name: str) -> Value:
        """What a name means that no scope holds."""
        found = BUILTINS.get(name)
        return self.unknown(name) if found is None else found

    # -- contexts of the source ---------------------------------------------------------------------------------

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

    def _part(self, body: list[ast.stmt], *, before: bool) -> None:
        at = next((i for i, s in enumerate(body) if any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in ast.walk(s))), None)
        if at is None:
            return
        statement = body[at]
        if before:
            self.execute(body[:at])
        inner = getattr(statement, "body", None)
        if isinstance(statement, ast.With):
            for item in statement.items:
                value = self.evaluate(item.context_expr)
                if before:
                    self.enter(value, item.context_expr)
                else:
                    self.leave(value, item.context_expr)
        if isinstance(inner, list) and isinstance(statement, (ast.Try, ast.With, ast.If)):
            self._part(inner, before=before)
        if not before:
            if isinstance(statement, ast.Try):
                self.execute(statement.finalbody)
            self.execute(body[at + 1 :])


def _is_generator(function: Function) -> bool:
    body = function.node.body
    return isinstance(body, list) and re.search(r"\byield\b", function.unit.segment(body)) is not None and any(
        isinstance(node, (ast.Yield, ast.YieldFrom)) for statement in body for node in ast.walk(statement)
        if not isinstance(statement, (ast.FunctionDef, ast.ClassDef))
    )


# -- Python's own functions -------------------------------------------------------------------------------------


def _range(m: Calls, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
    if args and all(isinstance(a, int) for a in args):
        try:
            numbers = range(*args[:3])
        except (TypeError, ValueError):
            return m.unknown(m.at(node))
        return Iteration(len(numbers), lambda i: numbers[i], endless=True)
    bounds = args[:2]
    start = bounds[0] if len(bounds) == 2 and isinstance(bounds[0], int) else 0
    last = bounds[-1] if bounds else None
    label = last.label if isinstance(last, Unknown) else ""
    length = m.scale.values.get(label, m.scale.batches)
    return Iteration(length, lambda i: start + i, exact=False, label=label, endless=True)


def _len(m: Calls, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
    value = args[0] if args else None
    match value:
        case list() | tuple() | dict() | str():
            return len(value)
        case Loader():
            return m.scale.batches if value.length is None else m.scale.length(value.length)
        case Iteration():
            return m.scale.length(value.length) if value.endless else value.length
        case Tensor(rows=int()):
            return value.rows
        case Model() if value.children:
            return len(value.children)
        case Unknown():
            name = value.label.rsplit(".", 1)[-1]
            if name in m.unit.iterated:
                return m.scale.batches
            return m.unknown(f"len({value.label})")
        case _:
            return m.unknown(f"len {m.at(node)}")


def _enumerate(m: Calls, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
    inner = m.iteration(args[0], node) if args else m.iteration([], node)
    start = args[1] if len(args) > 1 else kwargs.get("start", 0)
    base = start if isinstance(start, int) else 0
    return Iteration(inner.length, lambda i: (i + base, inner.make(i)), inner.exact, inner.loader, inner.label, inner.endless)


def _zip(m: Calls, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
    inners = [m.iteration(argument, node) for argument in args]
    if not inners:
        return []
    shortest = min(inners, key=lambda inner: (not inner.exact, inner.length))
    endless = all(inner.endless for inner in inners)
    loader = next((inner.loader for inner in inners if inner.loader is not None), None)
    return Iteration(
        shortest.length, lambda i: tuple(inner.make(i) for inner in inners), shortest.exact, loader, shortest.label, endless
    )


def _same(m: Calls, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
    return args[0] if args else []


def _list(m: Calls, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
    if not args:
        return []
    value = args[0]
    if isinstance(value, (list, tuple)):
        return list(value)
    if isinstance(value, dict):
        return list(value)
    if isinstance(value, Iteration) and value.exact and value.loader is None and value.length <= 24:
        return [value.make(i) for i in range(value.length)]
    return value


def _sorted(m: Calls, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
    value = _list(m, args, {}, node)
    key = kwargs.get("key")
    if isinstance(value, list) and len(value) < 24:
        keys = [item if key is None else m.apply(key, [item], {}, node) for item in value]
        if all(isinstance(k, (int, float)) for k in keys) or all(isinstance(k, str) for k in keys):
            order = sorted(range(len(value)), key=lambda i: keys[i], reverse=kwargs.get("reverse") is True)
            return [value[i] for i in order]
    return value


def _dict(m: Calls, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
    made = dict(args[0]) if args and isinstance(args[0], dict) else {}
    made.update(kwargs)
    return made


def _iter(m: Calls, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
    return m.iteration(args[0], node) if args else m.unknown(m.at(node))


def _next(m: Calls, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
    value = args[0] if args else None
    if isinstance(value, Parameters):
        return Parameters(value.accounts, value.opaque, element=True)
    for loop in m.loops[-1:]:
        loop.drawn = loop.loader = True
    if isinstance(value, Iteration):
        if value.position >= value.length and not value.endless:
            return args[1] if len(args) > 1 else m.unknown(m.at(node))
        value.position += 1
        return value.make(min(value.position, value.length) - 1)
    return m.unknown(f"elt({m.label(value)})")


def _number(kind: type) -> Any:
    def convert(m: Calls, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
        value = args[0] if args else 0
        if isinstance(value, (int, float, str)):
            try:
                return kind(value)
            except (ValueError, OverflowError):
                return m.unknown(m.at(node))
        if isinstance(value, Unknown):
            return value
        return m.unknown(m.at(node))

    return convert


def _fold(kind: Any) -> Any:
    def fold(m: Calls, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
        values = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args
        if values and all(isinstance(v, (int, float)) for v in values):
            return kind(values)
        tensors = [v for v in values if isinstance(v, Tensor)] if isinstance(values, (list, tuple)) else []
        if tensors:
            made = m.tensor(*tensors)
            same = {(t.reduction, t.factor) for t in tensors}
            made.reduction, made.factor = same.pop() if len(same) == 1 else ("unknown", None)
            return made
        return m.unknown(f"{kind.__name__}({','.join(m.label(v) for v in values[:4])})")

    return fold


def _getattr(m: Calls, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
    if len(args) >= 2 and isinstance(args[1], str):
        return m.attribute(args[0], args[1], node)
    return m.unknown(m.at(node))


def _setattr(m: Calls, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
    if len(args) >= 3 and isinstance(args[0], Instance) and isinstance(args[1], str):
        args[0].attrs[args[1]] = args[2]
    return None


def _super(m: Calls, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
    for function in reversed(m.running):
        if function.owner is not None:
            spec = function.node.args.args
            instance = m.scope.find(spec[0].arg).names[spec[0].arg] if spec and m.scope.find(spec[0].arg) else None  # type: ignore[union-attr]
            return Super(instance, function.owner)
    return m.unknown("super()")


def _filter(m: Calls, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
    return args[1] if len(args) > 1 else []


def _map(m: Calls, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
    if len(args) > 1:
        made = [m.apply(args[0], [item], {}, node) for item in m.iterate(args[1])]
        return made
    return []


def _any(m: Calls, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
    return m.unknown(f"any {m.at(node)}")


def _nothing(m: Calls, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
    return None


def _isinstance(m: Calls, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
    value = args[0] if args else None
    kind = args[1] if len(args) > 1 else None
    if isinstance(kind, Builtin):
        wanted = {"int": int, "float": float, "str": str, "list": list, "tuple": tuple, "dict": dict, "bool": bool}.get(kind.name)
        if wanted is not None and not isinstance(value, Unknown):
            return isinstance(value, wanted)
    if isinstance(kind, ClassValue) and isinstance(value, Instance):
        return kind in value.cls.lineage()
    if isinstance(kind, External):
        last = kind.name.rsplit(".", 1)[-1]
        if last == "Module" and (isinstance(value, Model) or (isinstance(value, Instance) and value.cls.is_module)):
            return True
        if last == "Optimizer" and isinstance(value, Optimizer):
            return True
        if last == "Tensor" and isinstance(value, (Tensor, Gradient, Parameters)):
            return True
    return m.unknown(f"isinstance({m.label(value)},{m.label(kind)})")


def _hasattr(m: Calls, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
    if len(args) == 2 and isinstance(args[0], Instance) and isinstance(args[1], str):
        if args[1] in args[0].attrs or args[0].cls.find(args[1]) is not None:
            return True
    return m.unknown(f"hasattr({m.label(args[0] if args else None)},{m.label(args[1] if len(args) > 1 else None)})")


BUILTINS: dict[str, Value] = {
    name: Builtin(name, call)
    for name, call in {
        "range": _range,
        "len": _len,
        "enumerate": _enumerate,
        "zip": _zip,
        "list": _list,
        "tuple": _list,
        "set": _list,
        "sorted": _sorted,
        "reversed": _list,
        "dict": _dict,
        "iter": _iter,
        "next": _next,
        "int": _number(int),
        "float": _number(float),
        "bool": _number(bool),
        "round": _number(round),
        "abs": _fold(abs) if False else _number(abs),
        "min": _fold(min),
        "max": _fold(max),
        "sum": _fold(sum),
        "getattr": _getattr,
        "setattr": _setattr,
        "hasattr": _hasattr,
        "super": _super,
        "filter": _filter,
        "map": _map,
        "any": _any,
        "all": _any,
        "isinstance": _isinstance,
        "print": _nothing,
        "str": lambda m, args, kwargs, node: m.unknown("text"),
    }.items()
}
BUILTINS["__name__"] = "__main__"
BUILTINS["__file__"] = "program.py"

__all__ = ["BUILTINS", "Calls", "Namespace", "Way"]
