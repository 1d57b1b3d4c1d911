"""Methods of models, and what a pass through one reaches."""

from __future__ import annotations

import ast
import re

from gradledger.ledger import events as ev
from gradledger.static import lightning
from gradledger.static.reach import acting
from gradledger.static.tensors import Tensors
from gradledger.static.values import (
    Accounts,
    Args,
    Context,
    Function,
    Instance,
    Model,
    Named,
    Parameters,
    Tensor,
    Unknown,
    Value,
    flat,
)

_LISTING = frozenset(
    {"parameters", "named_parameters", "trainable_parameters", "get_parameters", "trainable_params"}
)

_CUTS = re.compile(r"detach|no_grad|requires_grad|inference_mode|\.data\b")
"""What keeps gradients from flowing on."""

_SAME = frozenset(
    {
        "to",
        "cuda",
        "cpu",
        "float",
        "double",
        "half",
        "bfloat16",
        "train",
        "eval",
        "apply",
        "share_memory",
        "type",
        "compile",
        "requires_gradient_sync",
        "contiguous",
        "eval_mode",
    }
)


_GROWING = frozenset({"append", "add_module", "register_parameter", "register_module", "insert", "extend"})
_HOUSEKEEPING = frozenset(
    {
        "state_dict",
        "load_state_dict",
        "register_buffer",
        "extra_repr",
        "save_pretrained",
        "gradient_checkpointing_enable",
        "register_forward_hook",
        "get_submodule",
    }
)


class Modules(Tensors):
    """The part of the machine that knows models."""

    def model_method(self, owner: Value, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
        """A method that every nn.Module has."""
        if name in _LISTING:
            return self._listed(owner, named=name == "named_parameters")
        if name == "zero_grad":
            return self._clear(owner, kwargs.get("set_to_none", args[0] if args else True), node)
        if name in _SAME:
            return self._itself(owner, name, args, node)
        if name == "requires_grad_":
            self.require_gradients(owner, args[0] if args else kwargs.get("requires_grad", True), node)
            return owner
        if name == "no_sync":
            return Context("no_sync", owner)
        if name == "set_requires_gradient_sync" and isinstance(owner, (Model, Instance)):
            owner.sync = args[0] if args and isinstance(args[0], bool) else True
            return None
        if name in ("children", "modules", "named_children", "named_modules", "buffers", "named_buffers"):
            return (
                list(owner.children) if isinstance(owner, Model) else self.unknown(f"{name} {self.at(node)}")
            )
        if name in _GROWING and args:
            if isinstance(owner, Model):
                owner.children.append(args[-1])
            elif isinstance(owner, Instance):
                owner.attrs[f"{name} {len(owner.attrs)}"] = args[-1]
            return None
        if name in _HOUSEKEEPING or name.endswith("_hook"):
            return self._keep_house(owner, name, args, node)
        if isinstance(owner, Instance) and owner.cls.is_lightning:
            known = lightning.called(self, owner, name, args, kwargs, node)
            if known is not None:
                return known
        if name == "backward" and args and isinstance(args[0], Tensor):
            self.leave_alone()
        if name in ("__init__", "backward"):
            return None
        return self.forward(owner, args, kwargs, node, name)

    def _itself(self, owner: Value, name: str, args: Args, node: ast.AST) -> Value:
        """A method that gives the model back."""
        if name == "apply" and args and acting(args[0]):
            self.apply(args[0], [owner], {}, node)
        _switch(owner, name, args)
        return owner

    def _keep_house(self, owner: Value, name: str, args: Args, node: ast.AST) -> Value:
        """A method that neither computes nor lists parameters."""
        if name.endswith("_hook"):
            self._hook(args)
        if name == "load_state_dict" and args:
            self.loaded(node, self.accounts_of(owner, hidden=True))
        return self.unknown(f"{name} {self.at(node)}")

    def _hook(self, args: Args) -> None:
        """What runs at each pass through a model may clear."""
        hook = args[0] if args else None
        if hook is None:
            return
        if acting(hook):
            self.leave_alone()
        elif not isinstance(hook, Function):
            self.doubts.add("GL101")

    def _listed(self, owner: Value, *, named: bool) -> Value:
        """`model.parameters()` and `model.named_parameters()`."""
        accounts = self._accounts(owner)
        opaque = isinstance(owner, Unknown)
        if not named:
            return Parameters(accounts, opaque, spent=False)
        names = self.named_accounts(owner)
        if names is None:
            return [(self.unknown("parameter name"), Parameters(accounts, opaque, element=True))]
        return [(label, Parameters(frozenset((number,)), element=True)) for label, number in names]

    def named_accounts(self, owner: Value, prefix: str = "", depth: int = 0) -> list[tuple[str, int]] | None:
        """The parameters of a model by their names; None if not all can be told."""
        if depth > 6:
            return None
        parts: list[tuple[str, Value]] = []
        match owner:
            case Model():
                named: list[tuple[str, int]] = []
                if owner.kind == "copy":
                    return None
                if owner.account is not None:
                    named = [(f"{prefix}weight", owner.account), (f"{prefix}bias", owner.account)]
                parts = [(str(i), child) for i, child in enumerate(owner.children)] + list(
                    owner.attrs.items()
                )
            case Instance() if owner.cls.is_module:
                named = []
                parts = list(owner.attrs.items())
                if "own" in owner.attrs:
                    return None
            case _:
                return None
        for name, part in parts:
            if isinstance(part, Tensor) and part.leaf is not None:
                named.append((f"{prefix}{name}", part.leaf))
            elif isinstance(part, (Model, Instance)) and self.accounts_of(part):
                inner = self.named_accounts(part, f"{prefix}{name}.", depth + 1)
                if inner is None:
                    return None
                named += inner
            elif isinstance(part, Unknown) and part.account is not None:
                return None
        return named[:60] if len(named) <= 60 else None

    def _clear(self, owner: Value, to_none: Value, node: ast.AST) -> None:
        held = self._accounts(owner)
        if not held:
            # What this model is made of was not seen: it may well be what the optimizer holds.
            self.doubts.update(("GL101", "GL401"))
        self.cleared(node, held, "module", to="zero" if to_none is False else "none")

    def _accounts(self, owner: Value) -> Accounts:
        if isinstance(owner, Unknown):
            self.model_account(owner)
        return self.accounts_of(owner)

    def forward(self, model: Value, args: Args, kwargs: Named, node: ast.AST, name: str = "forward") -> Value:
        """`model(x)`."""
        if isinstance(model, Model) and model.loss is not None:
            made = self.tensor(*args, *kwargs.values())
            tensors = [a for a in args if isinstance(a, Tensor)]
            if not tensors:
                made.opaque = True
            made.reduction = model.loss if model.loss in ("mean", "sum") else "unknown"  # type: ignore[assignment]
            made.factor, made.count = 1.0, made.rows
            return made
        if isinstance(model, Model) and model.replicated and model.children:
            inner = model.children[0]
            out = self.apply(inner, args, kwargs, node)
            for part in flat(out):
                if isinstance(part, Tensor):
                    part.reduced = model.sync and not model.local
            return out
        self.watch_out(name, args, kwargs)
        if isinstance(model, Unknown):
            self.model_account(model)
        given = [
            item
            for value in (*args, *kwargs.values())
            for item in (value if isinstance(value, (list, tuple)) else [value])
        ]
        made = self.tensor(*given)
        if not self.no_grad:
            self.computed = True
            reached = self.live(self.accounts_of(model, hidden=True))
            made.deps |= reached
            self.partook.update(reached)
            for item in given:
                if isinstance(item, (Model, Instance)):
                    self.partook.update(self.accounts_of(item))
            self._owned(model, reached)
            self._use(model)
            self._admit_parts(model, name, made.deps)
        made.rows = next((a.rows for a in args if isinstance(a, Tensor)), None)
        if isinstance(model, (Model, Instance)) and model.replicated:
            made.reduced = model.sync and not model.local
        if "loss" in name.lower() or "criterion" in name.lower():
            made.reduction, made.presumed = "mean", True
        label = model.label if isinstance(model, (Unknown, Instance)) else ""
        if label and re.search(r"loss|criterion|objective", label, re.IGNORECASE):
            made.reduction, made.presumed = "mean", True
        return made

    def _admit_parts(self, model: Value, name: str, reached: Accounts) -> None:
        """A method's result is taken to come from all parts of its model and all arguments; it may not."""
        if not isinstance(model, Instance):
            return
        method = model.cls.find(name)
        if not isinstance(method, Function) or not isinstance(method.node.body, list):
            return
        text = method.unit.segment(method.node.body)
        named = [part for name, part in model.attrs.items() if re.search(rf"self\.{re.escape(name)}\b", text)]
        used = {holder for part in named for holder in self._holding(self.accounts_of(part))}
        beside = self._holding(self.accounts_of(model)) - used
        if beside or (_CUTS.search(text) and len(self._holding(reached)) > 1):
            self.doubts.add("GL401")

    def _holding(self, accounts: Accounts) -> set[int]:
        """The optimizers that hold any of these."""
        return {held for number in accounts if (held := self.boxes[number].held_by) is not None}

    def _use(self, model: Value, depth: int = 0) -> None:
        """Note which parameters a pass through the model certainly uses."""
        if id(model) in self.used:
            return
        self.used[id(model)] = model
        if isinstance(model, Model):
            if model.kind in ("ModuleList", "ModuleDict") or depth > 8:
                return
            if model.account is not None:
                self.boxes[model.account].sure = True
            named = model.attrs.values() if model.kind == "Sequential" else ()
            for child in (*model.children, *named):
                self._use(child, depth + 1)
        elif isinstance(model, Instance) and depth < 3:
            forward = model.cls.find("forward")
            if isinstance(forward, Function) and isinstance(forward.node.body, list):
                text = forward.unit.segment(forward.node.body)
                for name, part in model.attrs.items():
                    if re.search(rf"self\.{re.escape(name)}\s*\(", text):
                        self._use(part, depth + 1)
                    elif isinstance(part, list) and re.search(rf"in self\.{re.escape(name)}\b", text):
                        for item in part:
                            self._use(item, depth + 1)
                    elif isinstance(part, Tensor) and part.leaf is not None and f"self.{name}" in text:
                        self.boxes[part.leaf].sure = True

    def _owned(self, model: Value, accounts: Accounts) -> None:
        """The outermost model through which the parameters were used."""
        new = [number for number in accounts if not self.boxes[number].owned]
        if new:
            for number in new:
                self.boxes[number].owned = True
            training = getattr(model, "training", True)
            serial = getattr(model, "serial", 0) or id(model) % 1_000_000_007
            self.events.append(ev.ParametersOwned(None, tuple(sorted(new)), serial, training))


def _switch(model: Value, name: str, args: Args) -> None:
    """`model.train()` and `model.eval()`."""
    if name in ("eval", "train") and isinstance(model, (Model, Instance)):
        model.training = name == "train" and (not args or args[0] is not False)
