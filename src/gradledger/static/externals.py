"""Calls of what was imported and is not in the source: torch, and a few of its companions."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any

from gradledger.ledger import events as ev
from gradledger.static.calls import BUILTINS
from gradledger.static.methods import Args, Methods, Named
from gradledger.static.state import Leave
from gradledger.static.values import (
    NOTHING,
    Accelerator,
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
    Optimizer,
    Parameters,
    Scaler,
    Scheduler,
    Tensor,
    Unknown,
    Value,
)

_OPTIMIZERS = frozenset(
    "SGD Adam AdamW NAdam RAdam Adamax Adagrad Adadelta RMSprop Rprop ASGD LBFGS SparseAdam Adafactor Muon Lion Lamb LAMB LARS "
    "FusedAdam FusedLAMB AdaBelief Ranger Lookahead Adam8bit AdamW8bit PagedAdamW8bit RMSpropTF DiffGrad Sophia SophiaG".split()
)
_EMPTY = frozenset(
    "ReLU LeakyReLU GELU SiLU Sigmoid Tanh Softmax LogSoftmax Dropout Dropout2d Dropout1d Dropout3d Flatten Identity MaxPool2d AvgPool2d "
    "MaxPool1d AvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool1d Upsample PixelShuffle ELU SELU ReLU6 Hardswish Hardtanh Softplus Unflatten ZeroPad2d "
    "ReflectionPad2d UpsamplingNearest2d Mish CELU Fold Unfold CosineSimilarity PairwiseDistance AlphaDropout Hardsigmoid InstanceNorm2d".split()
)
_SOURCES = frozenset(
    "randn rand zeros ones empty full tensor arange linspace randint as_tensor from_numpy eye randn_like zeros_like ones_like rand_like full_like "
    "randperm normal Tensor FloatTensor LongTensor".split()
)
_DETACHED = frozenset("argmax argmin isnan isinf isfinite eq ne gt lt ge le allclose equal numel is_tensor bernoulli multinomial".split())
_WRAPPERS = frozenset({"DataParallel", "compile", "script", "trace", "convert_sync_batchnorm", "data_parallel", "ScriptModule"})
_REPLICAS = frozenset({"DistributedDataParallel", "DDP", "FullyShardedDataParallel", "FSDP", "fully_shard"})
_SHOWN = frozenset({"tqdm", "track", "auto.tqdm", "progress_bar", "islice", "cycle", "tqdm_notebook", "prange", "Bar", "notebook.tqdm"})


class Externals(Methods):
    """The part of the machine that knows torch's names."""

    def external(self, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
        """Something imported."""
        last = name.rsplit(".", 1)[-1]
        handler = _BY_LAST.get(last)
        if handler is not None:
            return handler(self, name, args, kwargs, node)
        if last in _OPTIMIZERS or (name.startswith("torch.optim.") and "lr_scheduler" not in name and "swa" not in name and last[:1].isupper()):
            return self.build_optimizer(last, args, kwargs, node)
        if self._is_schedule(name, last, args, kwargs):
            return self._build_scheduler(last, args, kwargs, node)
        if last in _SHOWN or last.startswith("tqdm"):
            return args[0] if args else kwargs.get("iterable", self.unknown(self.at(node)))
        if last in _WRAPPERS or last in _REPLICAS:
            return self._wrap(last, args, kwargs, node)
        if name.startswith("torch.nn.functional."):
            return self._function(last, args, kwargs, node)
        if name.startswith("torch.nn.") and last[:1].isupper():
            return self._build_module(last, args, kwargs, node)
        if name.startswith("torch."):
            return self._torch(name, last, args, kwargs, node)
        if re.search(r"[oO]ptimi[sz]er", last) and last[:1].isupper():
            return self._wrap_optimizer(last, args, kwargs, node)
        self.watch_out(name, args, kwargs)
        if last[:1].isupper() and any(isinstance(a, Optimizer) for a in args):
            return self._wrap_optimizer(last, args, kwargs, node)
        if last.endswith("Loss"):
            return self._build_module(last, args, kwargs, node, known=False)
        return self.through(args, kwargs, node, name)

    # -- optimizers and their companions -------------------------------------------------------------------------

    def build_optimizer(self, kind: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
        """`torch.optim.X(parameters, …)`."""
        if args and isinstance(args[0], Optimizer):
            return self._wrap_optimizer(kind, args, kwargs, node)
        given = kwargs.get("params", args[0] if args else None)
        site = self.site(node)
        optimizer = Optimizer(self.fresh(), kind, NOTHING, f"optimizer{len(self.optimizers)}", site=site)
        self.optimizers.append(optimizer)
        self.events.append(ev.OptimizerBuilt(site, optimizer.number, kind))
        accounts = self.gathered(given)
        if not accounts:
            # What it was built from cannot be seen.
            account = self.open_account("its parameters", None, opaque=True)
            accounts = frozenset((account,))
            if isinstance(given, Parameters) and not given.opaque:
                self.ambiguous = True
            self._unseen(optimizer, account)
        self.take(optimizer, accounts)
        return optimizer

    def _unseen(self, optimizer: Optimizer, account: int) -> None:
        """An optimizer whose parameters cannot be told is linked as one that was not built in sight."""
        label = f"built {optimizer.site}"
        self.roles[label] = optimizer
        self.learnt.optimizers[label] = None
        optimizer.name = label

    def _wrap_optimizer(self, kind: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
        inner = next((a for a in (*args, *kwargs.values()) if isinstance(a, Optimizer)), None)
        if inner is not None:
            inner.foreign = True
            return inner
        return self.unknown(f"{kind}(){self.at(node)}")

    def as_optimizer(self, cls: ClassValue, args: Args, kwargs: Named, node: ast.AST) -> Optimizer | None:
        """An optimizer of the user's own making."""
        for one in cls.lineage():
            for base in one.bases:
                last = base.name.rsplit(".", 1)[-1] if isinstance(base, External) else ""
                if last == "Optimizer" or (isinstance(base, External) and base.name.startswith("torch.optim.")):
                    made = self.build_optimizer(cls.node.name, args, kwargs, node)
                    if isinstance(made, Optimizer):
                        text = one.unit.segment(one.node.body)
                        made.foreign = made.foreign or "zero_grad" in text or ".grad" in text and "= None" in text
                        if "zero_grad" in text:
                            made.untold = True
                        return made
        return None

    def _is_schedule(self, name: str, last: str, args: Args, kwargs: Named) -> bool:
        given = [*args[:3], *kwargs.values()]
        has = any(isinstance(a, Optimizer) for a in given) or any(isinstance(a, Unknown) and isinstance(a.role, Optimizer) for a in given)
        if ".lr_scheduler." in name:
            return True
        return has and bool(re.search(r"sched|LR$|warmup|anneal|cosine|decay", last, re.IGNORECASE)) and "adjust" not in last

    def _build_scheduler(self, kind: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
        given = [*args, *kwargs.values()]
        flat = [item for value in given for item in (value if isinstance(value, list) else [value])]
        inner = next((s.optimizer for s in flat if isinstance(s, Scheduler)), None)
        optimizer = next((o for o in flat if isinstance(o, Optimizer)), inner)
        if optimizer is None:
            unseen = next((o for o in given[:1] if isinstance(o, Unknown)), None)
            if unseen is None:
                return self.unknown(f"scheduler {self.at(node)}")
            optimizer = self.as_known_optimizer(unseen)
        if optimizer is None:
            return self.unknown(f"scheduler {self.at(node)}")
        scheduler = Scheduler(self.fresh(), optimizer)
        text = self.unit.segment([node]) if isinstance(node, ast.stmt) else ast.unparse(node)
        per_batch = bool(re.search(r"len\(|steps_per_epoch|loader|num_training_steps|total_steps|max_steps|t_total|total_iters|num_steps|steps|iters", text))
        divided = bool(re.search(r"//|/\s*\w*(accum|micro|every)", text)) or "update" in text
        self.events.append(
            ev.SchedulerBuilt(
                self.site(node), scheduler.number, optimizer.number, kind, per_batch=per_batch and not divided
            )
        )
        self.roles[f"scheduler {scheduler.number}"] = scheduler
        return scheduler

    # -- modules ------------------------------------------------------------------------------------------------

    def _build_module(self, kind: str, args: Args, kwargs: Named, node: ast.AST, *, known: bool = True) -> Value:
        if kind in ("Parameter", "UninitializedParameter"):
            number = self.open_account("parameter", self.site(node))
            frozen = kwargs.get("requires_grad", args[1] if len(args) > 1 else True) is False
            if frozen:
                self.frozen.add(number)
            return Tensor(self.fresh(), frozenset((number,)), leaf=number)
        if kind.endswith("Loss"):
            reduction = kwargs.get("reduction", "mean")
            if not known or not isinstance(reduction, str):
                reduction = "unknown"
            if kwargs.get("size_average") is False:
                reduction = "sum"
            return Model(kind, None, loss=reduction)
        if kind in _EMPTY:
            return Model(kind, None)
        if kind in ("Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict"):
            children: list[Value] = []
            attrs: dict[str, Value] = {}
            for value in args:
                if isinstance(value, dict):
                    attrs.update({str(key): item for key, item in value.items()})
                elif isinstance(value, (list, tuple)):
                    children += value
                else:
                    children.append(value)
            return Model(kind, None, children, attrs)
        return Model(kind, self.open_account(kind, self.site(node)))

    def _wrap(self, last: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
        inner = args[0] if args else kwargs.get("module", kwargs.get("model"))
        if last in _REPLICAS and last != "fully_shard" and isinstance(inner, (Model, Instance)):
            return Model("replica", None, [inner], replicated=True)
        if last == "fully_shard" and isinstance(inner, (Model, Instance)):
            inner.replicated = True
        if inner is None:
            return Builtin("wrapped", lambda m, a, k, n: a[0] if a else None)
        if isinstance(inner, Unknown) and last in _REPLICAS:
            self.doubts.update(("GL501", "GL502"))
        return inner

    # -- functions of torch ---------------------------------------------------------------------------------------

    def _function(self, last: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
        made = self.tensor(*args, *kwargs.values())
        if last.endswith(("loss", "entropy", "_kl", "kl_div", "logits", "nll")) or last in ("cross_entropy", "ctc_loss"):
            reduction = kwargs.get("reduction", "mean")
            made.reduction = reduction if reduction in ("mean", "sum") else "unknown"
            made.factor = 1.0
            if not made.deps:
                made.opaque = True
            if last.endswith("logits") and "entropy" not in last:
                made.reduction = "unknown"
        return made

    def _torch(self, name: str, last: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
        if last in _SOURCES:
            rows = args[0] if args and isinstance(args[0], int) and not isinstance(args[0], bool) else None
            if last in ("randint", "full", "normal", "linspace"):
                shape = next((a for a in (*args, kwargs.get("size")) if isinstance(a, (tuple, list)) and a), None)
                rows = shape[0] if shape is not None and isinstance(shape[0], int) else None
            elif last == "arange" and len(args) > 1:
                rows = None
            elif rows is None and args and isinstance(args[0], (tuple, list)) and args[0] and isinstance(args[0][0], int):
                rows = args[0][0] if last != "tensor" else len(args[0])
            if last in ("tensor", "as_tensor") and args and isinstance(args[0], list):
                rows = len(args[0])
            if isinstance(args[0] if args else None, Tensor):
                rows = args[0].rows
            made = Tensor(self.fresh(), rows=rows)
            if kwargs.get("requires_grad") is True:
                made.leaf = self.open_account("leaf", self.site(node), data=True)
                made.deps = frozenset((made.leaf,))
            return made
        if name.startswith("torch.func") or last in ("vmap", "functional_call"):
            self.leave_alone()
        if last in _DETACHED:
            return self.unknown(f"{last} {self.at(node)}")
        if name.startswith(("torch.cuda.", "torch.backends.", "torch.distributed.", "torch.utils.", "torch.version", "torch.random")):
            if last == "all_reduce" and args and isinstance(args[0], Gradient):
                self.events.append(ev.GradientsReduced(self.site(node), tuple(sorted(self.resolve(args[0].accounts)))))
            return self.unknown(f"{name}()")
        if last in ("device", "Size", "manual_seed", "set_num_threads", "save", "load", "get_num_threads", "is_grad_enabled", "set_default_dtype", "seed", "Generator", "use_deterministic_algorithms", "set_float32_matmul_precision", "autograd.set_detect_anomaly"):
            return self.unknown(f"{last} {self.at(node)}")
        flat = [item for value in (*args, *kwargs.values()) for item in (value if isinstance(value, (list, tuple)) else [value])]
        made = self.tensor(*flat)
        first = args[0] if args else None
        if last in ("mean", "sum") and isinstance(first, Tensor):
            return self.method(first, last, args[1:], kwargs, node)
        if last in ("stack", "cat"):
            dim = kwargs.get("dim", args[1] if len(args) > 1 else 0)
            if last == "stack" and dim == 0:
                made.rows = len(first) if isinstance(first, (list, tuple)) else None
            elif last == "cat" and dim == 0:
                made.rows = None
        if last in ("stack", "cat") and flat:
            tensors = [t for t in flat if isinstance(t, Tensor)]
            same = {(t.reduction, t.factor) for t in tensors}
            if len(same) == 1:
                made.reduction, made.factor = same.pop()
                made.stacked = len(tensors) if len(tensors) == len(flat) else 0
        if last in ("chunk", "split", "tensor_split") and isinstance(first, Tensor):
            return self.method(first, last, args[1:], kwargs, node)
        used = [value.accounts for value in flat if isinstance(value, Gradient)] + [t.made_of for t in flat if isinstance(t, Tensor) and t.made_of]
        if used:
            made.made_of = frozenset().union(*used)
        if last == "_foreach_zero_":
            for value in flat:
                if isinstance(value, Gradient):
                    self.cleared(node, value.accounts, "hand", to="zero")
        return made

    # -- contexts -------------------------------------------------------------------------------------------------

    def enter(self, value: Value, node: ast.AST) -> Value:
        """`with value as …`."""
        if not isinstance(value, Context):
            if isinstance(value, Instance):
                start = value.cls.find("__enter__")
                if start is not None:
                    return self.apply(start, [value], {}, node)
            return value
        match value.kind:
            case "no_grad":
                self.no_grad += 1
            case "grad":
                value.owner = self.no_grad
                self.no_grad = 0
            case "no_sync":
                if isinstance(value.owner, (Model, Instance)):
                    value.owner.local += 1
            case "accumulate":
                self._accumulate(value.owner)
            case "source":
                self.around_yield(value, before=True)
        return value

    def leave(self, value: Value, node: ast.AST) -> None:
        """The end of the `with`."""
        if not isinstance(value, Context):
            if isinstance(value, Instance):
                end = value.cls.find("__exit__")
                if end is not None:
                    self.apply(end, [value, None, None, None], {}, node)
            return
        match value.kind:
            case "no_grad":
                self.no_grad -= 1
            case "grad":
                self.no_grad = value.owner
            case "no_sync":
                if isinstance(value.owner, (Model, Instance)):
                    value.owner.local -= 1
            case "source":
                self.around_yield(value, before=False)

    def _accumulate(self, accelerator: Accelerator) -> None:
        every = accelerator.every
        if isinstance(every, Unknown):
            self.learnt.unknown[every.label] = None
            every = self.scale.values.get(every.label, 3)
        elif isinstance(every, int):
            if every > 8:
                self.learnt.large[every] = None
            elif every > 1:
                self.learnt.windows.add(every)
            every = self.scale.number(every)
        if not isinstance(every, int):
            every = 1
        accelerator.turn += 1
        accelerator.sync = accelerator.last or accelerator.turn % max(every, 1) == 0
        if accelerator.last:
            accelerator.turn = 0


Handler = Callable[[Externals, str, Args, Named, ast.AST], Value]


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
    m.events.append(ev.ScalerBuilt(m.site(node), made.number, made.enabled, inside_loop=seen and turn is not None))
    return made


def _clip(m: Externals, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
    given = kwargs.get("parameters", args[0] if args else None)
    bound = kwargs.get("max_norm", kwargs.get("clip_value", args[1] if len(args) > 1 else None))
    infinite = bound == float("inf") if isinstance(bound, float) else isinstance(bound, External) and bound.name.endswith("inf")
    accounts = m.gathered(given)
    scaled = isinstance(bound, Unknown) and "scale" in bound.label
    m.clipped(node, accounts, measures=infinite, scaled_bound=scaled)
    return Tensor(m.fresh(), made_of=NOTHING)


def _no_grad(m: Externals, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
    return Context("no_grad")


def _grad_mode(m: Externals, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
    return Context("no_grad") if args and args[0] is False else Context("null")


def _null(m: Externals, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
    return Context("null")


def _autograd_grad(m: Externals, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
    if not name.startswith("torch"):
        return m.through(args, kwargs, node, name)
    root = args[0] if args else kwargs.get("outputs")
    if isinstance(root, Tensor):
        m.covered |= root.parts
    made = m.tensor(root) if kwargs.get("create_graph") is True else m.tensor()
    return [made] if False else made


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
    if rows is not None and isinstance(batch, int) and batch > 0 and "batch_sampler" not in kwargs and "sampler" not in kwargs:
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
    return Builtin("partial", lambda machine, more, others, at: machine.apply(function, [*given, *more], {**named, **others}, at))


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


def _copy(m: Externals, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
    value = args[0] if args else None
    if isinstance(value, (Model, Instance)) and m.accounts_of(value):
        return Model("copy", m.open_account("copy", m.site(node)))
    if isinstance(value, Unknown):
        return m.unknown(f"copy({value.label})")
    if isinstance(value, (list, dict)):
        return value.copy()
    return value


def _method_type(m: Externals, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
    return Bound(args[1], args[0]) if len(args) == 2 and isinstance(args[0], Function) else m.unknown(m.at(node))


def _trange(m: Externals, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
    return BUILTINS["range"].call(m, args, kwargs, node)


def _count(m: Externals, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
    start = args[0] if args and isinstance(args[0], int) else 0
    return Iteration(m.scale.batches, lambda i: start + i, exact=False, endless=True)


def _checkpoint(m: Externals, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
    if args and isinstance(args[0], (Model, Instance, Unknown)):
        return m.apply(args[0], args[1:], {}, node)
    return m.through(args, kwargs, node, name)


_BY_LAST: dict[str, Any] = {
    "GradScaler": _scaler,
    "ShardedGradScaler": _scaler,
    "clip_grad_norm_": _clip,
    "clip_grad_value_": _clip,
    "clip_grad_norm": _clip,
    "no_grad": _no_grad,
    "inference_mode": _no_grad,
    "set_grad_enabled": _grad_mode,
    "enable_grad": lambda m, *a: Context("grad"),
    "autocast": _null,
    "nullcontext": _null,
    "suppress": _null,
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
    "MethodType": _method_type,
    "count": _count,
    "checkpoint": _checkpoint,
}
