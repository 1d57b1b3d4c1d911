"""Calls of what was imported and is not in the source: torch, and a few of its companions."""

from __future__ import annotations

import ast
import re

from gradledger.ledger import events as ev
from gradledger.static.building import REPLICAS, Building
from gradledger.static.torch_calls import BY_LAST
from gradledger.static.values import (
    NOTHING,
    Args,
    Gradient,
    Instance,
    Model,
    Named,
    Optimizer,
    Parameters,
    Tensor,
    Unknown,
    Value,
    flat,
)

_OPTIMIZERS = frozenset(
    [
        "SGD",
        "Adam",
        "AdamW",
        "NAdam",
        "RAdam",
        "Adamax",
        "Adagrad",
        "Adadelta",
        "RMSprop",
        "Rprop",
        "ASGD",
        "LBFGS",
        "SparseAdam",
        "Adafactor",
        "Muon",
        "Lion",
        "Lamb",
        "LAMB",
        "LARS",
        "FusedAdam",
        "FusedLAMB",
        "AdaBelief",
        "Ranger",
        "Lookahead",
        "Adam8bit",
        "AdamW8bit",
        "PagedAdamW8bit",
        "RMSpropTF",
        "DiffGrad",
        "Sophia",
        "SophiaG",
    ]
)

_SOURCES = frozenset(
    [
        "randn",
        "Variable",
        "rand",
        "zeros",
        "ones",
        "empty",
        "full",
        "tensor",
        "arange",
        "linspace",
        "randint",
        "as_tensor",
        "from_numpy",
        "eye",
        "randn_like",
        "zeros_like",
        "ones_like",
        "rand_like",
        "full_like",
        "randperm",
        "normal",
        "Tensor",
        "FloatTensor",
        "LongTensor",
    ]
)

_DETACHED = frozenset(
    [
        "argmax",
        "argmin",
        "isnan",
        "isinf",
        "isfinite",
        "eq",
        "ne",
        "gt",
        "lt",
        "ge",
        "le",
        "allclose",
        "equal",
        "numel",
        "is_tensor",
        "bernoulli",
        "multinomial",
    ]
)

_WRAPPERS = frozenset(
    {"DataParallel", "compile", "script", "trace", "convert_sync_batchnorm", "data_parallel", "ScriptModule"}
)

_SHOWN = frozenset(
    {
        "tqdm",
        "track",
        "auto.tqdm",
        "progress_bar",
        "islice",
        "cycle",
        "tqdm_notebook",
        "prange",
        "Bar",
        "notebook.tqdm",
    }
)


_ASIDE = (
    "torch.cuda.",
    "torch.backends.",
    "torch.distributed.",
    "torch.utils.",
    "torch.version",
    "torch.random",
)
_SETTINGS = frozenset(
    {
        "device",
        "Size",
        "manual_seed",
        "set_num_threads",
        "save",
        "load",
        "get_num_threads",
        "is_grad_enabled",
        "set_default_dtype",
        "seed",
        "Generator",
        "use_deterministic_algorithms",
        "set_float32_matmul_precision",
    }
)


_SCHEDULES = ("torch.", "transformers.", "timm.", "accelerate.", "diffusers.")

_LOOKS_ON = (
    r"Check|Profil|Log|Monitor|Sav|EMA|Ema|Callback|Hook"
    r"|Train|Manag|Track|Find|Report|Writ|Timer|Engine|Runner"
)
"""What is given an optimizer and is none itself, by the words in its name."""

_OF_A_CLASS = re.compile(r"^torch\.(?:optim\.(?:\w+\.)*[A-Z]\w*|nn\.(?:\w+\.)*Module|Tensor)\.[a-z]\w*$")
"""A method, got from its class: `torch.optim.Optimizer.zero_grad`."""


class Externals(Building):
    """The part of the machine that knows torch's names."""

    def external(self, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
        """Something imported."""
        last = name.rsplit(".", 1)[-1]
        handler = BY_LAST.get(last)
        if handler is not None:
            return handler(self, name, args, kwargs, node)
        if last in _OPTIMIZERS or (
            name.startswith("torch.optim.")
            and "lr_scheduler" not in name
            and "swa" not in name
            and last[:1].isupper()
        ):
            return self.build_optimizer(last, args, kwargs, node)
        if self._is_schedule(name, last, args, kwargs):
            if not name.startswith(_SCHEDULES):
                # Of one's own making: where in the turn it belongs is not known.
                self.doubts.update(("GL205", "GL206"))
            return self._build_scheduler(last, args, kwargs, node)
        if last in _SHOWN or last.startswith("tqdm"):
            return args[0] if args else kwargs.get("iterable", self.unknown(self.at(node)))
        if last in _WRAPPERS or last in REPLICAS:
            return self._wrap(last, args, kwargs, node)
        if name.startswith("torch.nn.functional."):
            return self._function(last, args, kwargs, node)
        if name.startswith("torch.nn.") and last[:1].isupper():
            return self._build_module(last, args, kwargs, node)
        owner = args[0] if args else None
        if _OF_A_CLASS.search(name) and isinstance(owner, (Optimizer, Model, Instance, Tensor, Unknown)):
            return self.method(owner, last, args[1:], kwargs, node)
        if name.startswith("torch."):
            return self._torch(name, last, args, kwargs, node)
        if re.search(r"[oO]ptimi[sz]er", last) and last[:1].isupper():
            return self._wrap_optimizer(last, args, kwargs, node)
        self.watch_out(name, args, kwargs, node)
        if last[:1].isupper() and any(isinstance(a, Optimizer) for a in args):
            self.doubts.add("GL105")
            if re.search(_LOOKS_ON, last):
                return self.unknown(f"{name}(){self.at(node)}")
            return self._wrap_optimizer(last, args, kwargs, node)
        if last.endswith("Loss") and not self.accounts_of([*args, *kwargs.values()]):
            return self._build_module(last, args, kwargs, node, known=False)
        return self.through(args, kwargs, node, name)

    def _function(self, last: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
        made = self.tensor(*args, *kwargs.values())
        if last.endswith(("loss", "entropy", "_kl", "kl_div", "logits", "nll")) or last in (
            "cross_entropy",
            "ctc_loss",
        ):
            reduction = kwargs.get("reduction", "mean")
            made.reduction = reduction if reduction in ("mean", "sum") else "unknown"
            made.factor, made.count = 1.0, made.rows
            if not made.deps:
                made.opaque = True
            if last.endswith("logits") and "entropy" not in last:
                made.reduction = "unknown"
        return made

    def _torch(self, name: str, last: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
        if last in _SOURCES:
            return self._source(last, args, kwargs, node)
        if name.startswith("torch.func") or last in ("vmap", "functional_call"):
            self.leave_alone()
        if last in _DETACHED:
            return self.unknown(f"{last} {self.at(node)}")
        if last == "all_reduce" and args and isinstance(args[0], Gradient):
            reduced = tuple(sorted(self.resolve(args[0].accounts)))
            self.events.append(ev.GradientsReduced(self.site(node), reduced))
        if name.startswith(_ASIDE) or last in _SETTINGS:
            return self.unknown(f"{name} {self.at(node)}")
        parts = [item for value in (*args, *kwargs.values()) for item in flat(value)]
        first = args[0] if args else None
        if last in ("mean", "sum", "chunk", "split", "tensor_split") and isinstance(first, Tensor):
            return self.method(first, last, args[1:], kwargs, node)
        made = self.tensor(*parts)
        if last in ("stack", "cat"):
            self._stack(made, last, args, kwargs, parts)
        used = [value.accounts for value in parts if isinstance(value, Gradient)]
        used += [value.made_of for value in parts if isinstance(value, Tensor) and value.made_of]
        if used:
            made.made_of = NOTHING.union(*used)
        if last == "vector_to_parameters" or last.startswith("_foreach_"):
            self._on_lists(last, args, kwargs, node)
        return made

    def _on_lists(self, last: str, args: Args, kwargs: Named, node: ast.AST) -> None:
        """A function that changes many parameters, or their gradients, at once."""
        self.moved_away(frozenset().union(*(self.gathered(value) for value in args)))
        parts = [item for value in (*args, *kwargs.values()) for item in flat(value)]
        first = args[0] if args else None
        if last in ("_foreach_add_", "_foreach_sub_") and any(
            isinstance(value, Parameters) or (isinstance(value, Tensor) and value.leaf is not None)
            for value in flat(first)
        ):
            rest = [item for value in args[1:] for item in flat(value)]
            self._update(node, last.removeprefix("_foreach_"), rest, kwargs)
        if last.startswith(("_foreach_div_", "_foreach_mul_")):
            for value in parts:
                if isinstance(value, Gradient):
                    self.unlinked.update(("GL201", "GL301"))
                    self.changed(node, value.accounts)
        if last == "_foreach_zero_":
            for value in parts:
                if isinstance(value, Gradient):
                    self.cleared(node, value.accounts, "hand", to="zero")

    def _source(self, last: str, args: Args, kwargs: Named, node: ast.AST) -> Tensor:
        """A tensor made of numbers."""
        made = Tensor(self.fresh(), rows=_rows(last, args, kwargs))
        if kwargs.get("requires_grad") is True:
            made.leaf = self.open_account("leaf", self.site(node), data=True)
            made.deps = frozenset((made.leaf,))
        return made

    def _stack(self, made: Tensor, last: str, args: Args, kwargs: Named, parts: list[Value]) -> None:
        """Tensors put together."""
        first = args[0] if args else None
        if kwargs.get("dim", args[1] if len(args) > 1 else 0) == 0:
            made.rows = len(first) if last == "stack" and isinstance(first, (list, tuple)) else None
        tensors = [part for part in parts if isinstance(part, Tensor)]
        same = {(tensor.reduction, tensor.factor) for tensor in tensors}
        if len(same) == 1:
            made.reduction, made.factor = same.pop()
            made.stacked = len(tensors) if len(tensors) == len(parts) else 0


def _rows(last: str, args: Args, kwargs: Named) -> int | None:
    """The first dimension of what torch.randn(…) and the like make, if it can be told."""
    first = args[0] if args else None
    if last == "arange" and len(args) > 1:
        return None
    if isinstance(first, Tensor):
        return first.rows
    if last in ("tensor", "as_tensor", "from_numpy"):
        return len(first) if isinstance(first, list) else None
    shape = next((a for a in (*args, kwargs.get("size")) if isinstance(a, (tuple, list)) and a), None)
    if shape is not None:
        return shape[0] if isinstance(shape[0], int) else None
    if last in ("randint", "full", "normal", "linspace"):
        return None
    return first if isinstance(first, int) and not isinstance(first, bool) else None
