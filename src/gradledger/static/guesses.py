"""Things that were not built in sight, known by their use and at last by their name."""

from __future__ import annotations

import ast
import re

from gradledger.static.modules import _LISTING, _SAME
from gradledger.static.optimizing import Optimizing
from gradledger.static.values import (
    Accelerator,
    Args,
    Context,
    Function,
    Named,
    Optimizer,
    Scaler,
    Tensor,
    Unknown,
    Value,
)

_OPTIMIZER = re.compile(r"opt", re.IGNORECASE)

_SCHEDULER = re.compile(r"sched|lr|warmup|anneal|decay", re.IGNORECASE)


_SCALER = frozenset({"scale", "step", "update", "unscale_"})
_LEAVES_GRAPH = frozenset({"detach", "item", "cpu", "numpy", "clone"})
_NOT_A_PASS = frozenset(
    {
        "size",
        "shape",
        "view",
        "items",
        "keys",
        "values",
        "get",
        "state_dict",
        "load_state_dict",
        "numpy",
        "item",
    }
)


class Guesses(Optimizing):
    """The part of the machine that recognises by use."""

    def last_name(self, label: str) -> str:
        """The last part of a label that is a name."""
        return re.split(r"[.]", re.sub(r"\[[^\]]*\]$", "", label))[-1] if "@" not in label else ""

    def looks_like_optimizer(self, owner: Unknown, node: ast.AST) -> bool:
        """Whether its uses, or at last its name, show an optimizer."""
        if self._named_optimizer(called_name(node)):
            return True
        if owner.label.startswith("elt("):
            inner = self.last_name(owner.label[4:-1])
            return bool(_OPTIMIZER.search(inner)) and not _SCHEDULER.search(inner)
        return self._named_optimizer(self.last_name(owner.label))

    def _named_optimizer(self, name: str) -> bool:
        uses = self.unit.uses.get(name, set())
        if "param_groups" in uses or ({"zero_grad", "step"} <= uses and "parameters" not in uses):
            return True
        return bool(_OPTIMIZER.search(name)) and not _SCHEDULER.search(name)

    def _uses(self, owner: Unknown, node: ast.AST) -> set[str]:
        """All that is ever asked of something, under its label and under its name here."""
        known = self.unit.uses
        return known.get(self.last_name(owner.label), set()) | known.get(called_name(node), set())

    def _unknown_method(self, owner: Unknown, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
        role = owner.role
        if isinstance(role, (Optimizer, Scaler, Accelerator)) and name not in ("backward",):
            return self.method(role, name, args, kwargs, node)
        if name == "backward":
            return self._unknown_backward(owner, args, kwargs, node)
        if name == "step":
            return self._unknown_step(owner, args, kwargs, node)
        if name == "zero_grad":
            if self.looks_like_optimizer(owner, node):
                owner.role = self.opaque_optimizer(owner.label)
                return self.method(owner.role, name, args, kwargs, node)
            return self.model_method(owner, name, args, kwargs, node)
        if name in _SCALER and len(self._uses(owner, node) & _SCALER) >= 2:
            owner.role = self._opaque_scaler(owner)
            return self.method(owner.role, name, args, kwargs, node)
        if name in _LISTING:
            return self.model_method(owner, name, args, kwargs, node)
        if name in ("no_sync", "set_requires_gradient_sync"):
            self.doubts.update(("GL501", "GL502"))
            return Context("null")
        if name == "accumulate":
            self.leave_alone()
            return Context("null")
        if name in _SAME:
            return owner
        if name in ("copy_", "lerp_", "mul_") and "state_dict" in owner.label:
            self.doubts.add("GL402")  # weights are put into a model, and which one cannot be told
        if name in ("zero_", "fill_", "detach_", "mul_") and ".grad" in owner.label:
            self.doubts.update(("GL101", "GL401"))  # whose it is cannot be told
        if name == "requires_grad_":
            self.require_gradients(owner, args[0] if args else True, node)
            return owner
        if name in ("clip_grad_norm_", "clip_grad_value_") and args:
            self.clipped(node, self.gathered(args[0]))
            return self.unknown(f"norm {self.at(node)}")
        if owner.role == "leaf":
            return self.tensor() if name in _LEAVES_GRAPH else self.tensor(owner)
        return self._any_method(owner, name, args, kwargs, node)

    def _any_method(self, owner: Unknown, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
        """A method that says nothing about what its owner is."""
        if name in ("chunk", "split", "tensor_split") and len(args) <= 2 and not kwargs and args:
            return self._pieces(Tensor(self.fresh()), name, args)
        self.watch_out(name, args, kwargs, node)
        if owner.account is not None and owner.role is None:
            return self.forward(owner, args, kwargs, node, name)
        if name in ("append", "add", "update", "extend"):
            return None
        if self.is_model(owner) and name not in _NOT_A_PASS:
            return self.forward(owner, args, kwargs, node, name)
        return self.through(args, kwargs, node, f"{owner.label}.{name}")

    def _unknown_backward(self, owner: Unknown, args: Args, kwargs: Named, node: ast.AST) -> Value:
        given = args[0] if args else None
        name = owner.label.lower()
        if given is not None and isinstance(given, (Tensor, Unknown)):
            if "accelerator" in name or "fabric" in name:
                tensor = (
                    given if isinstance(given, Tensor) else Tensor(self.fresh(), opaque=True, presumed=True)
                )
                self.covered.add(tensor.serial)
                self.differentiate(node, self.tensor(tensor, factor=None), args[1:], kwargs)
                if "accumulate" in self.unit.text:
                    self.leave_alone()
            elif isinstance(given, Tensor) and (given.deps or given.opaque):
                self.leave_alone()
            else:
                self.differentiate(node, owner, args, kwargs)
            return None
        self.differentiate(node, owner, args, kwargs)
        return None

    def _unknown_step(self, owner: Unknown, args: Args, kwargs: Named, node: ast.AST) -> Value:
        uses = self._uses(owner, node)
        first = args[0] if args else None
        if first is not None and ("update" in uses or "unscale_" in uses or "scal" in owner.label.lower()):
            owner.role = self._opaque_scaler(owner)
            return self.method(owner.role, "step", args, kwargs, node)
        closure = first is None or isinstance(first, Function)
        if closure and self.looks_like_optimizer(owner, node):
            owner.role = self.opaque_optimizer(owner.label)
            return self.method(owner.role, "step", args, kwargs, node)
        if isinstance(first, Tensor) and first.deps:
            self.leave_alone()
        self.watch_out("step", args, kwargs)
        return self.unknown(f"{owner.label}.step()")

    def _opaque_scaler(self, owner: Unknown) -> Scaler:
        known = self.roles.get(owner.label)
        if not isinstance(known, Scaler):
            known = self.roles[owner.label] = Scaler(self.fresh(), foreign=True)
            self.scalers.append(known)
        return known


def called_name(node: ast.AST) -> str:
    """The last part of the name before a method call."""
    owner = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    while isinstance(owner, ast.Subscript):
        owner = owner.value
    return owner.id if isinstance(owner, ast.Name) else owner.attr if isinstance(owner, ast.Attribute) else ""
