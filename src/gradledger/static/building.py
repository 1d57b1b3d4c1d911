"""Optimizers, schedulers and modules as they are built."""

from __future__ import annotations

import ast
import re
from functools import lru_cache

from gradledger.ledger import events as ev
from gradledger.static.contexts import Contexts
from gradledger.static.values import (
    NOTHING,
    Accounts,
    Args,
    Builtin,
    ClassValue,
    External,
    Instance,
    Model,
    Named,
    Optimizer,
    Parameters,
    Scheduler,
    Tensor,
    Unknown,
    Value,
)

_EMPTY = frozenset(
    [
        "ReLU",
        "LeakyReLU",
        "GELU",
        "SiLU",
        "Sigmoid",
        "Tanh",
        "Softmax",
        "LogSoftmax",
        "Dropout",
        "Dropout2d",
        "Dropout1d",
        "Dropout3d",
        "Flatten",
        "Identity",
        "MaxPool2d",
        "AvgPool2d",
        "MaxPool1d",
        "AvgPool1d",
        "AdaptiveAvgPool2d",
        "AdaptiveAvgPool1d",
        "Upsample",
        "PixelShuffle",
        "ELU",
        "SELU",
        "ReLU6",
        "Hardswish",
        "Hardtanh",
        "Softplus",
        "Unflatten",
        "ZeroPad2d",
        "ReflectionPad2d",
        "UpsamplingNearest2d",
        "Mish",
        "CELU",
        "Fold",
        "Unfold",
        "CosineSimilarity",
        "PairwiseDistance",
        "AlphaDropout",
        "Hardsigmoid",
        "InstanceNorm2d",
    ]
)

_PLANS = ("total_steps", "num_training_steps", "T_max", "total_iters")

REPLICAS = frozenset({"DistributedDataParallel", "DDP", "FullyShardedDataParallel", "FSDP", "fully_shard"})


class Building(Contexts):
    """The part of the machine that builds."""

    def build_optimizer(self, kind: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
        """`torch.optim.X(parameters, …)`."""
        if args and isinstance(args[0], Optimizer):
            return self._wrap_optimizer(kind, args, kwargs, node)
        given = kwargs.get("params", args[0] if args else None)
        site = self.site(node)
        if isinstance(node, ast.Call) and _divided_rate(node, kwargs, self.unit.text):
            self.unlinked.add("GL201")
        optimizer = Optimizer(self.fresh(), kind, NOTHING, f"optimizer{len(self.optimizers)}", site=site)
        optimizer.picked = _picked(given)
        optimizer.bereft = isinstance(node, ast.Call) and _made_in_passing(node)
        self.optimizers.append(optimizer)
        self.events.append(ev.OptimizerBuilt(site, optimizer.number, kind))
        accounts = self.gathered(given)
        if isinstance(given, Parameters) and given.spent is False:
            given.spent = True
        if any(other.site == site for other in self.optimizers[:-1]):
            self._rebuilt(accounts)
        if not accounts:
            # What it was built from cannot be seen.
            account = self.open_account("its parameters", None, opaque=True)
            accounts = frozenset((account,))
            if isinstance(given, Parameters) and not given.opaque:
                self.ambiguous = True
            self._unseen(optimizer, account)
        self.take(optimizer, accounts)
        return optimizer

    def say_what_was_replaced(self) -> None:
        """Optimizers no pass has reached whose model was copied or replaced since, or made for them alone."""
        for optimizer in self.optimizers:
            held = optimizer.accounts or NOTHING
            if not held or any(self.boxes[number].filled for number in held):
                continue
            copied = any(
                box.filled and number > optimizer.number and not held.isdisjoint(box.copied)
                for number, box in self.boxes.items()
            )
            if copied or optimizer.bereft:
                self.events.append(ev.ParametersOrphaned(None, tuple(sorted(held)), optimizer.number))

    def _rebuilt(self, accounts: Accounts) -> None:
        """An optimizer is built anew in each turn: a model of unseen making may be new as well."""
        for number in accounts:
            value = self.unknowns.get(self.boxes[number].name)
            if value is not None and value.fleeting and "@" in value.label:
                self.doubts.update(("GL101", "GL102", "GL105", "GL401"))

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
                if isinstance(base, External) and "lr_scheduler" in base.name:
                    continue
                if last == "Optimizer" or (
                    isinstance(base, External) and base.name.startswith("torch.optim.")
                ):
                    made = self.build_optimizer(cls.node.name, args, kwargs, node)
                    if isinstance(made, Optimizer):
                        text = one.unit.segment(one.node.body)
                        made.foreign = (
                            made.foreign or "zero_grad" in text or (".grad" in text and "= None" in text)
                        )
                        if "zero_grad" in text:
                            made.untold = True
                        return made
        return None

    def _is_schedule(self, name: str, last: str, args: Args, kwargs: Named) -> bool:
        if ".lr_scheduler." in name:
            return True
        return _sounds_like_a_schedule(last) and any(
            isinstance(a, Optimizer) or (isinstance(a, Unknown) and isinstance(a.role, Optimizer))
            for a in (*args[:3], *kwargs.values())
        )

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
        plan = next((kwargs[name] for name in _PLANS if name in kwargs), None)
        scheduler.plan = plan.label if isinstance(plan, Unknown) else plan if type(plan) is int else None
        text = self.unit.segment([node]) if isinstance(node, ast.stmt) else ast.unparse(node)
        text = text.replace("total_iters=", "")  # the only name there is for it
        per_batch = bool(
            re.search(
                r"len\(|steps_per_epoch|loader|num_training_steps|total_steps|max_steps|t_total|total_iters|num_steps|steps|iters",
                text,
            )
        )
        divided = bool(re.search(r"//|/\s*\w*(accum|micro|every)", text)) or "update" in text
        self.events.append(
            ev.SchedulerBuilt(
                self.site(node), scheduler.number, optimizer.number, kind, per_batch=per_batch and not divided
            )
        )
        self.roles[f"scheduler {scheduler.number}"] = scheduler
        return scheduler

    def _build_module(
        self, kind: str, args: Args, kwargs: Named, node: ast.AST, *, known: bool = True
    ) -> Value:
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
        if isinstance(inner, Unknown) and last in REPLICAS:
            self.model_account(inner)
        if last in REPLICAS and last != "fully_shard" and isinstance(inner, (Model, Instance, Unknown)):
            return Model("replica", None, [inner], replicated=True)
        if last == "fully_shard" and isinstance(inner, (Model, Instance)):
            inner.replicated = True
        if inner is None:
            return Builtin("wrapped", lambda m, a, k, n: a[0] if a else None)
        return inner


def _made_in_passing(node: ast.Call) -> bool:
    """Whether the parameters are those of a model that is made here and now, `Net().parameters()`."""
    given: ast.expr | None = node.args[0] if node.args else None
    given = next((keyword.value for keyword in node.keywords if keyword.arg == "params"), given)
    while isinstance(given, ast.Call) and isinstance(given.func, ast.Attribute):
        if given.func.attr[:1].isupper():
            return True
        given = given.func.value
    return isinstance(given, ast.Call)


def _divided_rate(node: ast.Call, kwargs: Named, text: str) -> bool:
    """Whether the learning rate is a quotient: then a sum of losses may be what is meant."""
    written = next((keyword.value for keyword in node.keywords if keyword.arg == "lr"), None)
    rate = kwargs.get("lr")
    name = written.id if isinstance(written, ast.Name) else getattr(written, "attr", "")
    if name and re.search(rf"\b{re.escape(name)}\s*(?:/=|\*=|=[^=\n]*(?:/|\* ))", text):
        return True
    return isinstance(written, ast.BinOp) or (isinstance(rate, Unknown) and "/" in rate.label)


@lru_cache(maxsize=1024)
def _sounds_like_a_schedule(name: str) -> bool:
    return "adjust" not in name and bool(
        re.search(r"sched|LR$|warmup|anneal|cosine|decay", name, re.IGNORECASE)
    )


def _picked(given: Value) -> bool:
    """Whether what an optimizer was built from has single parameters in it."""
    match given:
        case Parameters():
            return given.element or given.picked
        case list() | tuple():
            return any(map(_picked, given))
        case dict():
            return _picked(given.get("params"))
        case _:
            return False
