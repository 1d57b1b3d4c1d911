"""Python's own functions in the small model."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from gradledger.static.unit import direct
from gradledger.static.values import (
    Args,
    Builtin,
    ClassValue,
    External,
    Gradient,
    Instance,
    Iteration,
    Length,
    Loader,
    Model,
    Named,
    Optimizer,
    Parameters,
    Super,
    Tensor,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from gradledger.static.calls import Calls


def _range(m: Calls, args: Args, kwargs: Named, node: ast.AST) -> Value:
    if args and all(isinstance(a, int) for a in args):
        try:
            numbers = range(*args[:3])
            length = len(numbers)
        except (TypeError, ValueError, OverflowError):
            return m.unknown(m.at(node))
        return Iteration(length, lambda i: numbers[i], endless=True)
    bounds = args[:2]
    start = bounds[0] if len(bounds) == 2 and isinstance(bounds[0], int) else 0
    last = bounds[-1] if bounds else None
    label = last.label if isinstance(last, Unknown) else ""
    if start == 1 and label.startswith("(") and label.endswith("+1)"):
        label = label[1:-3]  # range(1, n + 1) turns n times
    elif label.startswith("@"):
        m.doubts.add("GL501")  # which turn is the last cannot be told
    length = m.scale.values.get(label, m.scale.batches)
    return Iteration(length, lambda i: start + i, exact=False, label=label, endless=True)


def _len(m: Calls, args: Args, kwargs: Named, node: ast.AST) -> Value:
    value = args[0] if args else None
    match value:
        case list() | tuple() | dict() | str():
            return len(value)
        case Loader():
            return Length(m.scale.batches if value.length is None else m.scale.length(value.length))
        case Iteration():
            return Length(m.scale.length(value.length)) if value.endless else value.length
        case Tensor(rows=int()):
            return value.rows
        case Model() if value.children:
            return len(value.children)
        case Unknown():
            name = value.label.rsplit(".", 1)[-1]
            if name in m.unit.iterated or f"loader {value.label}" in m.roles:
                return Length(m.scale.batches)
            return m.unknown(f"len({value.label})")
        case _:
            return m.unknown(f"len {m.at(node)}")


def _enumerate(m: Calls, args: Args, kwargs: Named, node: ast.AST) -> Value:
    inner = m.iteration(args[0], node) if args else m.iteration([], node)
    start = args[1] if len(args) > 1 else kwargs.get("start", 0)
    if not isinstance(start, int):
        # Where the count begins cannot be told.
        m.unlinked.update(("GL202", "GL204"))
    base = start if isinstance(start, int) else int(m.label(start).endswith("+1)"))
    return Iteration(
        inner.length,
        lambda i: (i + base, inner.make(i)),
        inner.exact,
        inner.loader,
        inner.label,
        inner.endless,
    )


def _zip(m: Calls, args: Args, kwargs: Named, node: ast.AST) -> Value:
    inners = [m.iteration(argument, node) for argument in args]
    if not inners:
        return []
    shortest = min(inners, key=lambda inner: (not inner.exact, inner.length))
    endless = all(inner.endless for inner in inners)
    loader = next((inner.loader for inner in inners if inner.loader is not None), None)
    return Iteration(
        shortest.length,
        lambda i: tuple(inner.make(i) for inner in inners),
        shortest.exact,
        loader,
        shortest.label,
        endless,
    )


def _reversed(m: Calls, args: Args, kwargs: Named, node: ast.AST) -> Value:
    listed = _list(m, args, kwargs, node)
    if isinstance(listed, list):
        return listed[::-1]
    if isinstance(listed, Iteration):
        last = listed.length - 1
        return Iteration(
            listed.length,
            lambda i: listed.make(last - i),
            listed.exact,
            listed.loader,
            listed.label,
            listed.endless,
        )
    return listed


def _exec(m: Calls, args: Args, kwargs: Named, node: ast.AST) -> Value:
    if not args or not isinstance(args[0], str) or direct(args[0]):
        m.leave_alone()
    return m.unknown(f"exec {m.at(node)}")


def _names(m: Calls, args: Args, kwargs: Named, node: ast.AST) -> Value:
    if not args:
        return dict(m.scope.names)
    return args[0].attrs if isinstance(args[0], Instance) else m.unknown(f"vars({m.label(args[0])})")


def _same(m: Calls, args: Args, kwargs: Named, node: ast.AST) -> Value:
    return args[0] if args else []


def _list(m: Calls, args: Args, kwargs: Named, node: ast.AST) -> Value:
    if not args:
        return []
    value = args[0]
    if isinstance(value, (list, tuple)):
        return list(value)
    if isinstance(value, dict):
        return list(value)
    if isinstance(value, Iteration) and value.exact and value.loader is None and value.length <= 24:
        return [value.make(i) for i in range(value.length)]
    if isinstance(value, Parameters) and value.spent is False:
        return Parameters(value.accounts, value.opaque, parts=value.parts)
    return value


def _sorted(m: Calls, args: Args, kwargs: Named, node: ast.AST) -> Value:
    value = _list(m, args, {}, node)
    key = kwargs.get("key")
    if isinstance(value, list) and len(value) < 24:
        keys = [item if key is None else m.apply(key, [item], {}, node) for item in value]
        if all(isinstance(k, (int, float)) for k in keys) or all(isinstance(k, str) for k in keys):
            order = sorted(range(len(value)), key=lambda i: keys[i], reverse=kwargs.get("reverse") is True)
            return [value[i] for i in order]
    return value


def _dict(m: Calls, args: Args, kwargs: Named, node: ast.AST) -> Value:
    given = _list(m, args[:1], {}, node)
    made: dict[Any, Value] = dict(args[0]) if args and isinstance(args[0], dict) else {}
    for pair in given if isinstance(given, list) and not made else ():
        if isinstance(pair, tuple) and len(pair) == 2:
            made[pair[0] if isinstance(pair[0], (str, int)) else m.label(pair[0])] = pair[1]
    made.update(kwargs)
    return made


def _iter(m: Calls, args: Args, kwargs: Named, node: ast.AST) -> Value:
    return m.iteration(args[0], node) if args else m.unknown(m.at(node))


def _next(m: Calls, args: Args, kwargs: Named, node: ast.AST) -> Value:
    value = args[0] if args else None
    if isinstance(value, Parameters):
        return Parameters(value.accounts, value.opaque, element=True)
    for loop in m.loops[-1:]:
        if not loop.tasks:
            loop.drawn = loop.loader = True
    if isinstance(value, Iteration):
        if value.position >= value.length and not value.endless:
            return args[1] if len(args) > 1 else m.unknown(m.at(node))
        value.position += 1
        return value.make(min(value.position, value.length) - 1)
    return m.unknown(f"elt({m.label(value)})")


def _slice(m: Calls, args: Args, kwargs: Named, node: ast.AST) -> Value:
    if 0 < len(args) < 3 and all(value is None or type(value) is int for value in args):
        return slice(*args)
    return m.unknown(m.at(node))


def _number(kind: Any) -> Any:
    def convert(m: Calls, args: Args, kwargs: Named, node: ast.AST) -> Value:
        value = args[0] if args else 0
        if isinstance(value, (int, float, str)):
            try:
                return kind(value)
            except (ValueError, OverflowError, TypeError):
                return m.unknown(m.at(node))
        if isinstance(value, Unknown):
            return value
        return m.unknown(m.at(node))

    return convert


def _fold(kind: Any) -> Any:
    def fold(m: Calls, args: Args, kwargs: Named, node: ast.AST) -> Value:
        values = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args
        if values and all(isinstance(v, (int, float)) for v in values):
            return kind(values)
        tensors = [v for v in values if isinstance(v, Tensor)]
        if tensors:
            made = m.tensor(*tensors)
            same = {(t.reduction, t.factor) for t in tensors}
            made.reduction, made.factor = same.pop() if len(same) == 1 else ("unknown", None)
            return made
        return m.unknown(f"{kind.__name__}({','.join(m.label(v) for v in values[:4])})")

    return fold


def _getattr(m: Calls, args: Args, kwargs: Named, node: ast.AST) -> Value:
    if len(args) >= 2 and isinstance(args[1], str):
        found = m.attribute(args[0], args[1], node)
        absent = len(args) > 2 and isinstance(args[0], Instance) and isinstance(found, Unknown)
        if absent and found.label == f"{args[0].label}.{args[1]}" and found.label not in m.inherited:
            return args[2]
        return found
    if args and isinstance(args[0], (Optimizer, Tensor, Model)):
        m.leave_alone()  # which method it is cannot be told
    return m.unknown(m.at(node))


def _setattr(m: Calls, args: Args, kwargs: Named, node: ast.AST) -> Value:
    if len(args) < 3:
        return None
    if isinstance(args[1], str):
        m.set_attribute(args[0], args[1], args[2], node)
    else:
        m.put_out_of_sight(args[2])
        m.forget(args[0])
    return None


def _delattr(m: Calls, args: Args, kwargs: Named, node: ast.AST) -> Value:
    if len(args) == 2 and isinstance(args[1], str):
        m.delete_attribute(args[0], args[1], node)
    return None


def _super(m: Calls, args: Args, kwargs: Named, node: ast.AST) -> Value:
    for function in reversed(m.running):
        if function.owner is not None:
            spec = function.node.args.args
            home = m.scope.find(spec[0].arg) if spec else None
            return Super(None if home is None else home.names[spec[0].arg], function.owner)
    return m.unknown("super()")


def _filter(m: Calls, args: Args, kwargs: Named, node: ast.AST) -> Value:
    if len(args) > 1 and isinstance(args[1], Parameters):
        args[1].picked = True
    if len(args) < 2 or not isinstance(args[1], (list, tuple)) or not args[0]:
        return args[1] if len(args) > 1 else []
    # What cannot be told stays in.
    return [item for item in args[1] if m.known_truth(m.apply(args[0], [item], {}, node)) is not False]


def _map(m: Calls, args: Args, kwargs: Named, node: ast.AST) -> Value:
    if len(args) > 1:
        return [m.apply(args[0], [item], {}, node) for item in m.iterate(args[1])]
    return []


def _any(m: Calls, args: Args, kwargs: Named, node: ast.AST) -> Value:
    return m.unknown(f"any {m.at(node)}")


def _nothing(m: Calls, args: Args, kwargs: Named, node: ast.AST) -> Value:
    return None


def _isinstance(m: Calls, args: Args, kwargs: Named, node: ast.AST) -> Value:
    value = args[0] if args else None
    kind = args[1] if len(args) > 1 else None
    if isinstance(kind, Builtin):
        wanted = {
            "int": int,
            "float": float,
            "str": str,
            "list": list,
            "tuple": tuple,
            "dict": dict,
            "bool": bool,
        }.get(kind.name)
        if wanted is not None and not isinstance(value, Unknown):
            return isinstance(value, wanted)
    if isinstance(kind, ClassValue) and isinstance(value, Instance):
        return kind in value.cls.lineage()
    if isinstance(kind, External):
        last = kind.name.rsplit(".", 1)[-1]
        if last == "Module" and (
            isinstance(value, Model) or (isinstance(value, Instance) and value.cls.is_module)
        ):
            return True
        if last == "Optimizer" and isinstance(value, Optimizer):
            return True
        if last == "Tensor" and isinstance(value, (Tensor, Gradient, Parameters)):
            return True
    return m.unknown(f"isinstance({m.label(value)},{m.label(kind)})")


def _hasattr(m: Calls, args: Args, kwargs: Named, node: ast.AST) -> Value:
    seen = len(args) == 2 and isinstance(args[0], Instance) and isinstance(args[1], str)
    if seen and (args[1] in args[0].attrs or args[0].cls.find(args[1]) is not None):
        return True
    return m.unknown(
        f"hasattr({m.label(args[0] if args else None)},{m.label(args[1] if len(args) > 1 else None)})"
    )


BUILTINS: dict[str, Value] = {
    name: Builtin(name, call)
    for name, call in {
        "range": _range,
        "slice": _slice,
        "len": _len,
        "enumerate": _enumerate,
        "zip": _zip,
        "list": _list,
        "tuple": _list,
        "set": _list,
        "sorted": _sorted,
        "reversed": _reversed,
        "dict": _dict,
        "iter": _iter,
        "next": _next,
        "int": _number(int),
        "float": _number(float),
        "bool": _number(bool),
        "round": _number(round),
        "abs": _number(abs),
        "min": _fold(min),
        "max": _fold(max),
        "sum": _fold(sum),
        "getattr": _getattr,
        "setattr": _setattr,
        "delattr": _delattr,
        "hasattr": _hasattr,
        "super": _super,
        "filter": _filter,
        "map": _map,
        "any": _any,
        "all": _any,
        "isinstance": _isinstance,
        "print": _nothing,
        "exec": _exec,
        "eval": _exec,
        "locals": _names,
        "globals": _names,
        "vars": _names,
        "str": lambda m, args, kwargs, node: m.unknown("text"),
    }.items()
}


BUILTINS["__name__"] = "__main__"


BUILTINS["__file__"] = "program.py"
