"""Methods of tensors, parameters and gradients."""

from __future__ import annotations

import ast

from gradledger.ledger import events as ev
from gradledger.static.agents import Agents
from gradledger.static.operators import is_number
from gradledger.static.scale import STAND_IN
from gradledger.static.values import (
    NOTHING,
    Accounts,
    Args,
    Gradient,
    Iteration,
    Named,
    Parameters,
    Tensor,
    Unknown,
    Value,
)

_KEEP = frozenset(
    {
        "squeeze",
        "to",
        "float",
        "double",
        "cuda",
        "cpu",
        "type",
        "view",
        "reshape",
        "contiguous",
        "clone",
        "half",
        "bfloat16",
        "unsqueeze",
    }
)

_APART = frozenset(
    {"detach", "detach_", "numpy", "tolist", "new_tensor", "argmax", "eq", "ge", "gt", "lt", "le", "ne"}
)

_IN_PLACE = frozenset({"add_", "sub_", "copy_", "addcdiv_", "addcmul_", "lerp_", "mul_", "div_"})


class Tensors(Agents):
    """The part of the machine that computes with tensors."""

    def _tensor_method(self, owner: Tensor, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
        if name == "backward":
            self.differentiate(node, owner, args, kwargs)
            return None
        if name == "item":
            self.severed.update(owner.deps)
            return self.unknown(f"item {self.at(node)}")
        if name in _APART:
            self.severed.update(owner.deps)
            if name == "detach_":
                owner.cut, owner.deps, owner.parts = owner.cut or bool(owner.deps), NOTHING, frozenset()
                return owner
            return self.tensor(rows=owner.rows, cut=bool(owner.deps) or owner.cut, made_of=owner.made_of)
        if name == "requires_grad_":
            self.require_gradients(owner, args[0] if args else kwargs.get("requires_grad", True), node)
            return owner
        if name == "register_hook":
            self.entrust(args)
        if name == "size" and args == [0] and owner.rows is not None:
            return owner.rows
        if name in ("chunk", "split", "tensor_split", "unbind"):
            return self._pieces(owner, name, args)
        if name in _IN_PLACE and owner.leaf is not None:
            self._update(node, name, args, kwargs)
            return owner
        made = self.tensor(owner, *args)
        made.divisions = owner.divisions
        if owner.made_of:
            made.made_of = owner.made_of
        if name in ("div", "div_", "mul", "mul_", "__truediv__", "true_divide") and args:
            sign = ast.Div() if "div" in name else ast.Mult()
            value = self.binary(sign, owner, args[0], node)
            if name.endswith("_") and isinstance(value, Tensor):
                owner.factor, owner.divisions = value.factor, value.divisions
                return owner
            return value
        if name in ("mean", "sum", "nanmean"):
            _reduce(made, owner, name)
            made.presumed = made.presumed or bool(args or kwargs)
            made.rows = made.rows if args or kwargs else None
            return made
        if name in _KEEP:
            made.reduction, made.factor, made.presumed = owner.reduction, owner.factor, owner.presumed
            made.rows = owner.rows if name not in ("view", "reshape") else None
            if name == "to" and owner.leaf is not None:
                return owner
        return made

    def differentiate(self, node: ast.AST, root: Value, args: Args, kwargs: Named) -> None:
        """`loss.backward(…)` and its kin."""
        keep = kwargs.get("retain_graph", args[1] if len(args) > 1 else False)
        graph = kwargs.get("create_graph", args[2] if len(args) > 2 else False)
        inputs = kwargs.get("inputs")
        target: Accounts | None = None
        if inputs is not None:
            target = inputs.accounts if isinstance(inputs, Parameters) else self.accounts_of(inputs)
        tensor = root if isinstance(root, Tensor) else Tensor(self.fresh(), opaque=True, presumed=True)
        given = args[0] if args else kwargs.get("gradient")
        if isinstance(given, Tensor) and given.scaled_by is not None:
            tensor = self.tensor(tensor, scaled_by=given.scaled_by)
        elif tensor is not root or isinstance(given, Unknown):
            self.doubts.add("GL305")  # whoever made it may have scaled it
        chained = given is not None and not isinstance(given, bool)
        self.backward(node, tensor, keep=keep is True or graph is True, inputs=target, chained=chained)

    def _pieces(self, owner: Tensor, name: str, args: Args) -> Value:
        size = self.number(args[0]) if args else None
        rows = parted(owner.rows, name, args[0]) if args and size == args[0] else None
        if rows is not None and len(rows) <= 24:
            if name != "split":
                self.learnt.windows.add(min(len(rows), 8))
            return [self.tensor(owner, rows=number) for number in rows]
        if name in ("chunk", "tensor_split"):
            if isinstance(size, int):
                if size > 8:
                    self.learnt.large[size] = None
                self.learnt.windows.add(min(size, 8))
                return [self.tensor(owner, rows=None) for _ in range(min(size, 24))]
            if isinstance(size, Unknown):
                self.learnt.unknown[size.label] = None
        elif isinstance(size, int) and size > 0 and owner.rows is not None:
            count = -(-owner.rows // size)
            return [self.tensor(owner, rows=None) for _ in range(min(count, 24))]
        part = self.tensor(owner, rows=None)
        inside = any(loop.relevant for loop in self.loops)
        return Iteration(
            STAND_IN if inside else self.scale.batches, lambda i: part, exact=False, endless=True
        )

    def _parameters_method(
        self, owner: Parameters, name: str, args: Args, kwargs: Named, node: ast.AST
    ) -> Value:
        if name in _IN_PLACE and owner.element:
            if not self._update(node, name, args, kwargs) or name == "copy_":
                self.overwritten(node, owner.accounts)
            return owner
        if name == "requires_grad_":
            self.require_gradients(owner, args[0] if args else True, node)
            return owner
        if name in ("append", "extend", "add") and args:
            added = args[0]
            owner.accounts |= added.accounts if isinstance(added, Parameters) else self.accounts_of(added)
            return None
        if name == "register_post_accumulate_grad_hook":
            self.hooked = True
            return None
        if name == "register_hook":
            self.entrust(args)
            self.unlinked.update(("GL201", "GL301", "GL304", "GL307"))
        if name in ("numel", "size", "dim", "register_hook", "nelement", "is_floating_point"):
            return self.unknown(f"p.{name}")
        if name in ("detach", "clone", "cpu", "numpy") or owner.data:
            return (
                self.tensor()
                if name != "clone"
                else self.tensor(deps=self.live(owner.accounts) if not self.no_grad else NOTHING)
            )
        return self.tensor(deps=self.live(owner.accounts) if not self.no_grad else NOTHING)

    def _update(self, node: ast.AST, name: str, args: Args, kwargs: Named) -> bool:
        """Parameters changed in place, by gradients or not: a step by hand, if it goes downhill."""
        used: Accounts = NOTHING
        down = name == "sub_"
        for value in (*args, *kwargs.values()):
            if isinstance(value, Gradient):
                used |= value.accounts
            elif isinstance(value, Tensor) and value.made_of:
                used |= value.made_of
                down = down != value.negative
            elif (is_number(value) and value < 0) or (
                isinstance(value, Unknown) and value.label.startswith("-")
            ):
                down = not down
        if used and (down or name == "copy_"):
            self.stepped_by_hand(node, used)
        elif used:
            # Uphill, as sharpness-aware training goes: the gradients have served.
            self.events.append(ev.ParametersMoved(None, tuple(sorted(self.resolve(used)))))
        return bool(used)

    def read_gradient(self, value: Gradient, node: ast.AST) -> None:
        """`.grad` is used as a tensor: where it is None for certain, that fails."""
        boxes = [self.boxes[number] for number in value.accounts]
        self.read_at.add(self.site(node))
        # Never filled although passes ran may also mean that their way was not seen.
        sure = not self.roots or all(box.filled for box in boxes)
        if sure and boxes and all(box.content == "none" and not box.opaque for box in boxes):
            self.events.append(ev.GradientMissing(self.site(node), value.text))

    def _gradient_method(self, owner: Gradient, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
        self.read_gradient(owner, node)
        if name == "zero_" or (name == "fill_" and args and args[0] == 0):
            self.cleared(node, owner.accounts, "hand", to="zero")
            return owner
        if name in ("detach_", "requires_grad_"):
            return owner
        if name == "copy_":
            accounts = self.resolve(owner.accounts)
            self.events.append(ev.GradientAssigned(self.site(node), tuple(sorted(accounts))))
            self.made_by_hand(accounts)
            return owner
        if name.endswith("_") and not name.startswith("__"):
            by = self.number(args[0]) if args else None
            divided = by if name == "div_" and isinstance(by, int) and not isinstance(by, bool) else 0
            bound = name in ("clamp_", "clip_", "clamp_min_", "clamp_max_")
            held = all(self.boxes[number].content == "held" for number in self.resolve(owner.accounts))
            if bound and held and len(args) + len(kwargs) == 2:
                # As clip_grad_value_ does: what was there before the pass is still there.
                self.clipped(node, owner.accounts)
                return owner
            factor = name == "mul_" and args and not is_number(args[0])
            if args and "scale" in self.label(args[0]).lower():
                factor = False
                self.doubts.update(("GL301", "GL302"))  # the scale is taken out by hand
            self.changed(node, owner.accounts, clipping=bool(bound or factor), divided_by=divided)
            return owner
        # A norm is a number: nothing can be put back from it.
        return self.tensor() if name == "norm" else self.tensor(made_of=owner.accounts)


def parted(rows: int | None, name: str, size: Value) -> list[int] | None:
    """The rows of each piece, where they are known."""
    if name == "split" and isinstance(size, (list, tuple)):
        return list(size) if size and all(type(part) is int and part > 0 for part in size) else None
    if rows is None or type(size) is not int or not 0 < size <= rows:
        return None
    if name == "tensor_split":
        return [rows // size + (number < rows % size) for number in range(min(size, 25))]
    if name == "chunk":
        size = -(-rows // size)
    elif name != "split":
        return None
    return [min(size, rows - at) for at in range(0, min(rows, 25 * size), size)]


def _reduce(made: Tensor, owner: Tensor, name: str) -> None:
    """What a mean or a sum makes of a loss."""
    made.factor = owner.factor
    if owner.reduction == "unknown":
        made.reduction, made.count = "mean" if "mean" in name else "sum", owner.rows
        return
    made.reduction, made.presumed = owner.reduction, owner.presumed
    if owner.stacked > 1 and owner.factor is not None and abs(owner.factor * owner.stacked - 1) < 1e-9:
        made.averaged_twice = "mean" in name
