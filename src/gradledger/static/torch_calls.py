"""Calls that are known by the last part of their name."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from gradledger.ledger import events as ev
from gradledger.static.leaving import Leave
from gradledger.static.python_calls import BUILTINS
from gradledger.static.values import (
    NOTHING,
    Accelerator,
    Args,
    Bound,
    Builtin,
    Context,
    Defaults,
    External,
    Function,
    Instance,
    Iteration,
    Loader,
    Model,
    Named,
    Parameters,
    Scaler,
    Tensor,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from gradledger.static.externals import Externals


def _scaler(m: Externals, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
    enabled = kwargs.get("enabled", True)
    known = m.known_truth(enabled)
    if known is None:
        known = m.decide(m.label(enabled), node, relevant=True, default=True)
    made = Scaler(m.fresh(), enabled=known)
    m.scalers.append(made)
    turn = m.loops[-1] if m.loops else None
    seen = m.built_in_loop.get(id(node)) == (id(turn) if turn else 0)
    m.built_in_loop[id(node)] = id(turn) if turn else 0
    m.events.append(
        ev.ScalerBuilt(m.site(node), made.number, made.enabled, inside_loop=seen and turn is not None)
    )
    return made


_MEASURES = 1e6
"""A bound that no gradient reaches: the norm is what is wanted."""


def _clip(m: Externals, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
    given = kwargs.get("parameters", args[0] if args else None)
    bound = kwargs.get("max_norm", kwargs.get("clip_value", args[1] if len(args) > 1 else None))
    infinite = (
        bound >= _MEASURES
        if isinstance(bound, (int, float))
        else isinstance(bound, External) and bound.name.endswith("inf")
    )
    if isinstance(given, Parameters) and given.spent:
        # An iterator that the optimizer has read: nothing is left in it to clip.
        m.events.append(ev.GradientsClipped(m.site(node), (), only_measures=infinite))
        return Tensor(m.fresh(), made_of=NOTHING)
    accounts = m.gathered(given)
    scaled = isinstance(bound, Unknown) and "scale" in bound.label
    m.clipped(node, accounts, measures=infinite, scaled_bound=scaled)
    return Tensor(m.fresh(), made_of=NOTHING)


def _no_grad(m: Externals, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
    return Context("no_grad")


def _grad_mode(m: Externals, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
    return Context("no_grad") if args and args[0] is False else Context("null")


def _grad_enabled(m: Externals, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
    return not m.no_grad


def _null(m: Externals, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
    return Context("null")


def _stack(m: Externals, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
    return Context("stack", [])


def _namespace(m: Externals, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
    made = m.unknown(f"namespace {m.at(node)}", fleeting=False)
    made.attrs.update({key: value for key, value in kwargs.items() if key != "**"})
    return made


def _autograd_grad(m: Externals, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
    if not name.startswith("torch"):
        return m.through(args, kwargs, node, name)
    root = args[0] if args else kwargs.get("outputs")
    if isinstance(root, Tensor):
        m.covered |= root.parts
    return m.tensor(root) if kwargs.get("create_graph") is True else m.tensor()


def _autograd_backward(m: Externals, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
    if "autograd" not in name:
        return m.through(args, kwargs, node, name)
    roots = args[0] if args else kwargs.get("tensors")
    roots = roots if isinstance(roots, (list, tuple)) else [roots]
    made = m.tensor(*roots) if any(isinstance(r, Tensor) for r in roots) else Tensor(m.fresh(), opaque=True)
    keep = kwargs.get("retain_graph", False)
    m.backward(node, made, keep=keep is True)
    return None


def _loader(m: Externals, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
    dataset = kwargs.get("dataset", args[0] if args else None)
    batch = kwargs.get("batch_size", args[1] if len(args) > 1 else 1)
    rows = _rows(m, dataset)
    length: int | None = None
    if (
        rows is not None
        and isinstance(batch, int)
        and batch > 0
        and "batch_sampler" not in kwargs
        and "sampler" not in kwargs
    ):
        length = rows // batch if kwargs.get("drop_last") is True else -(-rows // batch)
    return m.loader(length, rows, batch if isinstance(batch, int) else None)


def _rows(m: Externals, dataset: Value) -> int | None:
    match dataset:
        case Loader():
            return dataset.rows
        case list() | tuple():
            return len(dataset)
        case Tensor():
            return dataset.rows
        case Iteration():
            return dataset.length if dataset.exact else None
        case Instance():
            length = dataset.cls.find("__len__")
            if length is not None:
                value = m.apply(length, [dataset], {}, dataset.cls.node)
                return value if isinstance(value, int) else None
    return None


def _tensor_dataset(m: Externals, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
    rows = next((a.rows for a in args if isinstance(a, Tensor) and a.rows is not None), None)
    return m.loader(rows, rows)


def _chain(m: Externals, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
    parts = [m.gathered(argument) for argument in args]
    if any(parts):
        return Parameters(frozenset().union(*parts))
    flat = [item for value in args if isinstance(value, (list, tuple)) for item in value]
    return flat or m.unknown(m.at(node))


def _partial(m: Externals, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
    if not args:
        return m.unknown(m.at(node))
    function, given, named = args[0], args[1:], kwargs
    return Builtin(
        "partial",
        lambda machine, more, others, at: machine.apply(function, [*given, *more], {**named, **others}, at),
    )


def _exit(m: Externals, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
    if name in ("sys.exit", "os._exit"):
        raise Leave
    return m.unknown(name)


def _accelerator(m: Externals, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
    made = Accelerator(kwargs.get("gradient_accumulation_steps", 1))
    plugin = kwargs.get("gradient_accumulation_plugin")
    if plugin is not None or "deepspeed_plugin" in kwargs or "**" in kwargs:
        made.unknown = True
        made.every = m.unknown(f"window of {m.at(node)}") if plugin is not None else made.every
    m.roles[f"accelerator {len(m.roles)}"] = made
    return made


def _fabric(m: Externals, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
    made = Accelerator(1)
    m.roles[f"accelerator {len(m.roles)}"] = made
    return made


def _recorded(m: Externals, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
    m.leave_alone()  # passes and steps that were recorded run again when it is replayed
    return m.unknown(f"{name}(){m.at(node)}")


def _copy(m: Externals, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
    value = args[0] if args else None
    if isinstance(value, (Model, Instance)) and (copied := m.accounts_of(value)):
        account = m.open_account("copy", m.site(node))
        m.boxes[account].copied = copied
        return Model("copy", account)
    if isinstance(value, Unknown) and m.is_model(value):
        made = m.unknown(f"copy({value.label}){m.at(node)}")
        m.boxes[m.model_account(made)].copied = frozenset((m.model_account(value),))
        return made
    if isinstance(value, Unknown):
        return m.unknown(f"copy({value.label})")
    if isinstance(value, (list, dict)):
        return value.copy()
    return value


def _method_type(m: Externals, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
    return (
        Bound(args[1], args[0]) if len(args) == 2 and isinstance(args[0], Function) else m.unknown(m.at(node))
    )


def _defaults(m: Externals, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
    made = Defaults()
    factory = args[0] if args else None
    made.make = lambda: m.apply(factory, [], {}, node) if factory is not None else m.unknown(m.at(node))
    return made


def _ordered(m: Externals, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
    return BUILTINS["dict"].call(m, args, kwargs, node)


def _trange(m: Externals, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
    return BUILTINS["range"].call(m, args, kwargs, node)


def _count(m: Externals, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
    start = args[0] if args and isinstance(args[0], int) else 0
    return Iteration(m.scale.batches, lambda i: start + i, exact=False, endless=True)


def _checkpoint(m: Externals, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
    if args and isinstance(args[0], (Model, Instance, Unknown)):
        return m.apply(args[0], args[1:], {}, node)
    return m.through(args, kwargs, node, name)


BY_LAST: dict[str, Any] = {
    "GradScaler": _scaler,
    "ShardedGradScaler": _scaler,
    "clip_grad_norm_": _clip,
    "clip_grad_value_": _clip,
    "clip_grad_norm": _clip,
    "no_grad": _no_grad,
    "inference_mode": _no_grad,
    "set_grad_enabled": _grad_mode,
    "is_grad_enabled": _grad_enabled,
    "enable_grad": lambda m, *a: Context("grad"),
    "autocast": _null,
    "nullcontext": _null,
    "suppress": _null,
    "ExitStack": _stack,
    "SimpleNamespace": _namespace,
    "grad": _autograd_grad,
    "backward": _autograd_backward,
    "DataLoader": _loader,
    "TensorDataset": _tensor_dataset,
    "chain": _chain,
    "from_iterable": _chain,
    "partial": _partial,
    "exit": _exit,
    "_exit": _exit,
    "Accelerator": _accelerator,
    "Fabric": _fabric,
    "deepcopy": _copy,
    "copy": _copy,
    "trange": _trange,
    "defaultdict": _defaults,
    "OrderedDict": _ordered,
    "MethodType": _method_type,
    "count": _count,
    "checkpoint": _checkpoint,
    "CUDAGraph": _recorded,
}
