"""Methods of optimizers, gradient scalers and accelerators."""

from __future__ import annotations

import ast
import re

from gradledger.ledger import events as ev
from gradledger.static.leaving import Crash
from gradledger.static.modules import Modules
from gradledger.static.values import (
    NOTHING,
    Accelerator,
    Accounts,
    Args,
    Context,
    Instance,
    Iteration,
    Named,
    Optimizer,
    Parameters,
    Scaler,
    Scheduler,
    Tensor,
    Unknown,
    Value,
)


class Optimizing(Modules):
    """The part of the machine that steps."""

    def _optimizer_method(
        self, owner: Optimizer, name: str, args: Args, kwargs: Named, node: ast.AST
    ) -> Value:
        acts = owner.accelerator is None or owner.accelerator.sync
        if name == "zero_grad":
            if acts:
                to_none = kwargs.get("set_to_none", args[0] if args else True)
                accounts = owner.accounts or NOTHING
                self.cleared(
                    node, accounts, "optimizer", to="zero" if to_none is False else "none", owner=owner.number
                )
            return None
        if name == "step":
            closure = next(
                (
                    a
                    for a in (*args, *kwargs.values())
                    if a is not None and not isinstance(a, (Unknown, int, float))
                ),
                None,
            )
            if closure is not None and not isinstance(closure, (Tensor, dict)):
                self._step_with_closure(owner, closure, node)
            elif acts:
                self.stepped(node, owner)
            if not args and not kwargs and not owner.foreign:
                return None
            return self.unknown("loss of the closure")
        if name == "add_param_group" and args:
            self.take(owner, self.gathered(args[0]))
            return None
        if name in ("step_and_update_lr",):
            self.stepped(node, owner)
            return None
        if name.startswith("register_step") or name == "attach_to":
            owner.untold = True
            return None
        if name in ("__enter__", "state_dict", "load_state_dict", "register_step_post_hook", "train", "eval"):
            return self.unknown(f"{owner.name}.{name}")
        if re.search(r"step|zero|backward|update|pcgrad", name):
            owner.untold = True
        # A method of its own may sum up what it finds.
        self.looked_at |= self.resolve(owner.accounts or NOTHING)
        return self.unknown(f"{owner.name}.{name}()")

    def _step_with_closure(self, owner: Optimizer, closure: Value, node: ast.AST) -> None:
        accounts = tuple(sorted(owner.accounts or ()))
        rounds = 2 if "LBFGS" in owner.kind else 1
        for turn in range(rounds):
            if turn:
                self.events.append(ev.ClosureEvaluated(self.site(node), accounts, owner.number))
            self.apply(closure, [], {}, node)
        self.stepped(node, owner)

    def gathered(self, value: Value) -> Accounts:
        """The accounts inside whatever an optimizer was built from."""
        match value:
            case Parameters():
                return value.accounts
            case list() | tuple():
                return frozenset().union(*(self.gathered(item) for item in value)) if value else NOTHING
            case dict():
                return self.gathered(value.get("params")) if "params" in value else NOTHING
            case Iteration():
                return (
                    frozenset().union(*(self.gathered(value.make(i)) for i in range(min(value.length, 8))))
                    if value.length
                    else NOTHING
                )
            case _:
                return self.accounts_of(value)

    def take(self, optimizer: Optimizer, accounts: Accounts) -> None:
        """An optimizer was given parameters."""
        for number in accounts:
            box = self.boxes[number]
            box.held_by = box.held_by or optimizer.number
            box.data = False
        optimizer.accounts = (optimizer.accounts or NOTHING) | accounts
        if accounts:
            self.events.append(ev.AccountTaken(None, tuple(sorted(accounts)), optimizer.number))

    def _scaler_method(self, owner: Scaler, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
        first = args[0] if args else None
        if name == "scale":
            if not owner.enabled:
                return first
            self.events.append(ev.LossScaled(self.site(node), owner.number))
            tensor = first if isinstance(first, Tensor) else Tensor(self.fresh(), opaque=True, presumed=True)
            made = self.tensor(
                tensor, reduction=tensor.reduction, factor=tensor.factor, presumed=tensor.presumed
            )
            made.scaled_by, made.divisions = owner.number, tensor.divisions
            return made
        optimizer = self.as_known_optimizer(first) if name in ("step", "unscale_") else None
        if name == "step" and optimizer is not None:
            self.events.append(ev.ScalerStepped(self.site(node), owner.number, optimizer.number))
            if optimizer.number in owner.stepped:
                if owner.foreign:
                    self.doubts.add("GL303")  # whoever made it may update it
                if owner.enabled:
                    accounts = tuple(sorted(optimizer.accounts or ()))
                    site = self.site(node)
                    self.events.append(
                        ev.StepRefused(site, accounts, optimizer.number, owner.number, "already-stepped")
                    )
                    raise Crash
            owner.stepped.add(optimizer.number)
            self.stepped(node, optimizer, owner if owner.enabled else None)
        elif name == "unscale_" and optimizer is not None:
            if owner.enabled:
                self.unscaled(node, owner, optimizer)
        elif name == "update":
            owner.stepped.clear()
            self.events.append(ev.ScalerUpdated(self.site(node), owner.number))
        elif name in ("step", "unscale_"):
            # Of which optimizer cannot be told: it may be any.
            self.doubts.update(("GL302", "GL303", "GL305"))
            self.unlinked.update(("GL301",) if name == "unscale_" else ())
            self.leave_alone()
        elif name == "load_state_dict":
            self.doubts.add("GL308")
        return self.unknown(f"scaler.{name}()")  # get_scale() among them: a bound that names it is scaled

    def as_known_optimizer(self, value: Value) -> Optimizer | None:
        """The optimizer a value is, also one that was not built in sight."""
        if isinstance(value, Optimizer):
            return value
        if (
            isinstance(value, Unknown)
            and not isinstance(value.role, Scaler)
            and "elt(" not in value.label[:4]
        ):
            optimizer = value.role = self.opaque_optimizer(value.label)
            return optimizer
        if isinstance(value, Instance):
            return next((v for v in value.attrs.values() if isinstance(v, Optimizer)), None)
        return None

    def _accelerator_method(
        self, owner: Accelerator, name: str, args: Args, kwargs: Named, node: ast.AST
    ) -> Value:
        if name in ("prepare", "setup", "setup_dataloaders", "setup_module", "setup_optimizers"):
            for value in args:
                if isinstance(value, (Optimizer, Scheduler)):
                    value.accelerator = owner
            return args[0] if len(args) == 1 else tuple(args)
        if name == "backward" and args:
            root = args[0]
            every = self.number(owner.every)
            if isinstance(root, Tensor) and not owner.unknown:
                root = self.binary(ast.Div(), root, every, node) if every != 1 else root
                assert isinstance(root, Tensor)
                self.covered.add(args[0].serial)
                self.roots[args[0].serial] = self.site(node)
                self.rooted[args[0].serial] = tuple(turn.turn for turn in self.loops) or (0,)
            elif isinstance(root, Tensor):
                root = self.tensor(root, factor=None)
            self.differentiate(node, root, args[1:], kwargs)
            return None
        if name == "accumulate":
            return Context("accumulate", owner)
        if name in ("no_sync", "no_backward_sync"):
            return Context("null")
        if name in ("clip_grad_norm_", "clip_grad_value_", "clip_gradients"):
            accounts = self.gathered(args[0]) if args else NOTHING
            self.clipped(node, accounts)
            return self.unknown(f"norm {self.at(node)}")
        if name in ("autocast", "main_process_first", "profile"):
            return Context("null")
        if (
            name
            in ("unwrap_model", "unwrap", "gather", "gather_for_metrics", "reduce", "pad_across_processes")
            and args
        ):
            return args[0] if name.startswith("unwrap") else self.tensor()
        return self.unknown(f"accelerator.{name}()")
