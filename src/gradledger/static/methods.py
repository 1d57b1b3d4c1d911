"""Methods of what torch and its companions provide."""

from __future__ import annotations

import ast
import re
from typing import Any

from gradledger.ledger import events as ev
from gradledger.static.calls import Calls
from gradledger.static.operators import is_number
from gradledger.static.scale import STAND_IN
from gradledger.static.state import Leave
from gradledger.static.values import (
    NOTHING,
    Accelerator,
    Accounts,
    Context,
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

Args = list[Value]
Named = dict[str, Value]

_SAME = frozenset({"to", "cuda", "cpu", "float", "double", "half", "bfloat16", "train", "eval", "apply", "share_memory", "type", "compile", "requires_gradient_sync", "contiguous", "eval_mode"})
_KEEP = frozenset({"squeeze", "to", "float", "double", "cuda", "cpu", "type", "view", "reshape", "contiguous", "clone", "half", "bfloat16", "unsqueeze"})
_APART = frozenset({"detach", "detach_", "numpy", "tolist", "new_tensor", "argmax", "eq", "ge", "gt", "lt", "le", "ne"})
_IN_PLACE = frozenset({"add_", "sub_", "copy_", "addcdiv_", "addcmul_", "lerp_", "mul_", "div_"})
_LISTING = frozenset({"parameters", "named_parameters", "trainable_parameters", "get_parameters", "trainable_params"})
_OPTIMIZER = re.compile(r"opt", re.IGNORECASE)
_SCHEDULER = re.compile(r"sched|lr|warmup|anneal|decay", re.IGNORECASE)


class Methods(Calls):
    """The part of the machine that knows torch's objects."""

    def method(self, owner: Value, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
        """A method of something that is not in the source."""
        match owner:
            case Tensor():
                return self._tensor_method(owner, name, args, kwargs, node)
            case Optimizer():
                return self._optimizer_method(owner, name, args, kwargs, node)
            case Parameters():
                return self._parameters_method(owner, name, args, kwargs, node)
            case Gradient():
                return self._gradient_method(owner, name, args, kwargs, node)
            case Model() | Instance():
                return self.model_method(owner, name, args, kwargs, node)
            case Scaler():
                return self._scaler_method(owner, name, args, kwargs, node)
            case Scheduler():
                if name == "step" and (owner.accelerator is None or owner.accelerator.sync):
                    self.scheduled(node, owner, explicit=bool(args) or "epoch" in kwargs)
                return self.unknown(f"scheduler.{name}")
            case Accelerator():
                return self._accelerator_method(owner, name, args, kwargs, node)
            case Unknown():
                return self._unknown_method(owner, name, args, kwargs, node)
            case list() | dict() | tuple() | str():
                return self._container_method(owner, name, args, kwargs, node)
            case Loader() | Iteration():
                return self.unknown(f"loader.{name}")
            case _:
                return self.through(args, kwargs, node, name)

    # -- tensors ------------------------------------------------------------------------------------------------

    def _tensor_method(self, owner: Tensor, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
        if name == "backward":
            self.differentiate(node, owner, args, kwargs)
            return None
        if name == "item":
            return self.unknown(f"item {self.at(node)}")
        if name in _APART:
            return self.tensor(rows=owner.rows, cut=bool(owner.deps) or owner.cut, made_of=owner.made_of)
        if name == "requires_grad_":
            self.require_gradients(owner, args[0] if args else kwargs.get("requires_grad", True), node)
            return owner
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
            if owner.reduction == "unknown":
                made.reduction = "mean" if "mean" in name else "sum"
                made.factor = 1.0 if owner.factor == 1.0 else owner.factor
            else:
                made.reduction, made.factor, made.presumed = owner.reduction, owner.factor, owner.presumed
                if owner.stacked > 1 and owner.factor is not None and abs(owner.factor * owner.stacked - 1) < 1e-9:
                    made.averaged_twice = "mean" in name
            if args or kwargs:
                made.presumed = True
            else:
                made.rows = None
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
        chained = given is not None and not isinstance(given, bool)
        self.backward(node, tensor, keep=keep is True or graph is True, inputs=target, chained=chained)

    def _pieces(self, owner: Tensor, name: str, args: Args) -> Value:
        size = self.number(args[0]) if args else None
        if name in ("chunk", "tensor_split"):
            if isinstance(size, int):
                if size > 8:
                    self.learnt.large[size] = None
                self.learnt.windows.add(min(size, 8))
                return [self.tensor(owner) for _ in range(min(size, 24))]
            if isinstance(size, Unknown):
                self.learnt.unknown[size.label] = None
        elif isinstance(size, int) and size > 0 and owner.rows is not None:
            count = -(-owner.rows // size)
            return [self.tensor(owner) for _ in range(min(count, 24))]
        part = self.tensor(owner, rows=None)
        inside = any(loop.relevant for loop in self.loops)
        return Iteration(STAND_IN if inside else self.scale.batches, lambda i: part, exact=False, endless=True)

    # -- parameters and gradients -------------------------------------------------------------------------------

    def _parameters_method(self, owner: Parameters, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
        if name in _IN_PLACE and owner.element:
            self._update(node, name, args, kwargs)
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
        if name in ("numel", "size", "dim", "register_hook", "nelement", "is_floating_point"):
            return self.unknown(f"p.{name}")
        if name in ("detach", "clone", "cpu", "numpy") or owner.data:
            return self.tensor() if name != "clone" else self.tensor(deps=self.live(owner.accounts) if not self.no_grad else NOTHING)
        return self.tensor(deps=self.live(owner.accounts) if not self.no_grad else NOTHING)

    def _update(self, node: ast.AST, name: str, args: Args, kwargs: Named) -> None:
        """Parameters changed in place: a step by hand, if it goes against the gradient."""
        used: Accounts = NOTHING
        down = name == "sub_"
        for value in (*args, *kwargs.values()):
            if isinstance(value, Gradient):
                used |= value.accounts
            elif isinstance(value, Tensor) and value.made_of:
                used |= value.made_of
                down = down != value.negative
            elif (is_number(value) and value < 0) or (isinstance(value, Unknown) and value.label.startswith("-")):
                down = not down
        if used and (down or name == "copy_"):
            self.stepped_by_hand(node, used)

    def read_gradient(self, value: Gradient, node: ast.AST) -> None:
        """`.grad` is used as a tensor: where it is None for certain, that fails."""
        boxes = [self.boxes[number] for number in value.accounts]
        if boxes and all(box.content == "none" and not box.opaque for box in boxes):
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
            factor = name == "mul_" and args and not is_number(args[0])
            self.changed(node, owner.accounts, clipping=bool(bound or factor), divided_by=divided)
            return owner
        return self.tensor(made_of=owner.accounts)

    # -- models -------------------------------------------------------------------------------------------------

    def model_method(self, owner: Value, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
        """A method that every nn.Module has."""
        if name in _LISTING:
            accounts = self._accounts(owner)
            opaque = isinstance(owner, Unknown)
            if name == "named_parameters":
                names = self.named_accounts(owner)
                if names is not None:
                    return [(label, Parameters(frozenset((number,)), element=True)) for label, number in names]
                return [(self.unknown("parameter name"), Parameters(accounts, opaque, element=True))]
            return Parameters(accounts, opaque)
        if name == "zero_grad":
            to_none = kwargs.get("set_to_none", args[0] if args else True)
            self.cleared(node, self._accounts(owner), "module", to="zero" if to_none is False else "none")
            return None
        if name in _SAME:
            if name in ("eval", "train") and isinstance(owner, (Model, Instance)):
                owner.training = name == "train" and (not args or args[0] is not False)
            return owner
        if name == "requires_grad_":
            self.require_gradients(owner, args[0] if args else kwargs.get("requires_grad", True), node)
            return owner
        if name == "no_sync":
            return Context("no_sync", owner)
        if name in ("set_requires_gradient_sync", "set_is_last_backward"):
            if name.endswith("sync") and args and isinstance(owner, (Model, Instance)):
                owner.sync = args[0] if isinstance(args[0], bool) else True
            return None
        if name in ("children", "modules", "named_children", "named_modules", "buffers", "named_buffers"):
            return self.unknown(f"{name} {self.at(node)}") if not isinstance(owner, Model) else list(owner.children)
        if name in ("append", "add_module", "register_parameter", "register_module", "insert", "extend") and args:
            held = args[-1]
            target = owner.children if isinstance(owner, Model) else None
            if target is not None:
                target.append(held)
            elif isinstance(owner, Instance):
                owner.attrs[f"{name} {len(owner.attrs)}"] = held
            return None
        if name in ("state_dict", "load_state_dict", "register_buffer", "half_precision", "extra_repr", "save_pretrained", "gradient_checkpointing_enable", "register_forward_hook", "get_submodule"):
            return self.unknown(f"{name} {self.at(node)}")
        if isinstance(owner, Instance) and owner.cls.is_lightning:
            known = self._lightning(owner, name, args, kwargs, node)
            if known is not None:
                return known
        if name == "__init__":
            return None
        if name == "backward" and args and isinstance(args[0], Tensor):
            self.leave_alone()
            return None
        return self.forward(owner, args, kwargs, node, name)

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
                parts = [(str(i), child) for i, child in enumerate(owner.children)] + list(owner.attrs.items())
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
            made.factor = 1.0
            return made
        if isinstance(model, Model) and model.replicated and model.children:
            inner = model.children[0]
            out = self.apply(inner, args, kwargs, node)
            for part in _flat(out):
                if isinstance(part, Tensor):
                    part.reduced = model.sync and not model.local
            return out
        self.watch_out(name, args, kwargs)
        if isinstance(model, Unknown):
            self.model_account(model)
        flat = [item for value in (*args, *kwargs.values()) for item in (value if isinstance(value, (list, tuple)) else [value])]
        made = self.tensor(*flat)
        if not self.no_grad:
            reached = self.live(self.accounts_of(model, hidden=True))
            made.deps |= reached
            self._owned(model, reached)
            self._use(model)
        made.rows = next((a.rows for a in args if isinstance(a, Tensor)), None)
        if isinstance(model, (Model, Instance)) and model.replicated:
            made.reduced = model.sync and not model.local
        if "loss" in name.lower() or "criterion" in name.lower():
            made.reduction, made.presumed = "mean", True
        label = model.label if isinstance(model, (Unknown, Instance)) else ""
        if re.search(r"loss|criterion|objective", label, re.IGNORECASE):
            made.reduction, made.presumed = "mean", True
        return made

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
            for child in model.children:
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

    def _lightning(self, owner: Instance, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
        if name == "optimizers":
            made = owner.attrs.get("the optimizers")
            if made is None:
                configure = owner.cls.find("configure_optimizers")
                value = self.run_function(configure, [owner], {}, node) if isinstance(configure, Function) else None
                found = [v for v in _flat(value) if isinstance(v, Optimizer)]
                made = owner.attrs["the optimizers"] = found
            return made[0] if len(made) == 1 else list(made) if made else self.unknown("self.optimizers()")
        if name == "manual_backward" and args:
            self.differentiate(node, args[0], args[1:], kwargs)
            return self.unknown("None")
        if name == "clip_gradients" and args and isinstance(args[0], Optimizer):
            self.clipped(node, args[0].accounts or NOTHING)
            return self.unknown("None")
        if name in ("toggle_optimizer", "untoggle_optimizer", "log", "log_dict", "lr_schedulers", "print", "save_hyperparameters"):
            if name == "toggle_optimizer":
                self.doubts.add("GL401")
            return self.unknown(f"self.{name}()")
        return None

    # -- optimizers ---------------------------------------------------------------------------------------------

    def _optimizer_method(self, owner: Optimizer, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
        acts = owner.accelerator is None or owner.accelerator.sync
        if name == "zero_grad":
            if acts:
                to_none = kwargs.get("set_to_none", args[0] if args else True)
                accounts = owner.accounts or NOTHING
                self.cleared(node, accounts, "optimizer", to="zero" if to_none is False else "none", owner=owner.number)
            return None
        if name == "step":
            closure = next((a for a in (*args, *kwargs.values()) if a is not None and not isinstance(a, (Unknown, int, float))), None)
            if closure is not None and not isinstance(closure, (Tensor, dict)):
                self._step_with_closure(owner, closure, node)
            elif acts:
                self.stepped(node, owner)
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
                return frozenset().union(*(self.gathered(value.make(i)) for i in range(min(value.length, 8)))) if value.length else NOTHING
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

    # -- scalers ------------------------------------------------------------------------------------------------

    def _scaler_method(self, owner: Scaler, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
        first = args[0] if args else None
        if name == "scale":
            if not owner.enabled:
                return first
            self.events.append(ev.LossScaled(self.site(node), owner.number))
            tensor = first if isinstance(first, Tensor) else Tensor(self.fresh(), opaque=True, presumed=True)
            made = self.tensor(tensor, reduction=tensor.reduction, factor=tensor.factor, presumed=tensor.presumed)
            made.scaled_by, made.divisions = owner.number, tensor.divisions
            return made
        optimizer = self.as_known_optimizer(first)
        if name == "step" and optimizer is not None:
            if owner.enabled:
                self.events.append(ev.ScalerStepped(self.site(node), owner.number, optimizer.number))
                if optimizer.number in owner.stepped:
                    accounts = tuple(sorted(optimizer.accounts or ()))
                    site = self.site(node)
                    self.events.append(
                        ev.StepRefused(site, accounts, optimizer.number, owner.number, "already-stepped")
                    )
                    raise Leave
                owner.stepped.add(optimizer.number)
            self.stepped(node, optimizer, owner if owner.enabled else None)
        elif name == "unscale_" and optimizer is not None and owner.enabled:
            self.unscaled(node, owner, optimizer)
        elif name == "update":
            owner.stepped.clear()
            self.events.append(ev.ScalerUpdated(self.site(node), owner.number))
        elif name in ("step", "unscale_"):
            self.leave_alone()
        return self.unknown(f"scaler.{name}()")  # get_scale() among them: a bound that names it is scaled

    def as_known_optimizer(self, value: Value) -> Optimizer | None:
        """The optimizer a value is, also one that was not built in sight."""
        if isinstance(value, Optimizer):
            return value
        if isinstance(value, Unknown) and not isinstance(value.role, Scaler) and "elt(" not in value.label[:4]:
            value.role = self.opaque_optimizer(value.label)
            return value.role
        if isinstance(value, Instance):
            return next((v for v in value.attrs.values() if isinstance(v, Optimizer)), None)
        return None

    # -- accelerate and fabric ----------------------------------------------------------------------------------

    def _accelerator_method(self, owner: Accelerator, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
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
        if name in ("unwrap_model", "unwrap", "gather", "gather_for_metrics", "reduce", "pad_across_processes") and args:
            return args[0] if name.startswith("unwrap") else self.tensor()
        return self.unknown(f"accelerator.{name}()")

    # -- the unknown ----------------------------------------------------------------------------------------------

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
        uses = self.unit.uses.get(name, frozenset())
        if "param_groups" in uses or {"zero_grad", "step"} <= uses and "parameters" not in uses:
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
        uses = self._uses(owner, node)
        if name in ("scale", "unscale_", "update") and len(uses & {"scale", "step", "update", "unscale_"}) >= 2:
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
        if name == "requires_grad_":
            self.require_gradients(owner, args[0] if args else True, node)
            return owner
        if name in ("clip_grad_norm_", "clip_grad_value_") and args:
            self.clipped(node, self.gathered(args[0]))
            return self.unknown(f"norm {self.at(node)}")
        if owner.role == "leaf":
            return self.tensor() if name in ("detach", "item", "cpu", "numpy", "clone") else self.tensor(owner)
        self.watch_out(name, args, kwargs)
        if owner.account is not None and owner.role is None:
            return self.forward(owner, args, kwargs, node, name)
        if name in ("append", "add", "update", "extend"):
            return None
        label = f"{owner.label}.{name}"
        if self.is_model(owner) and name not in ("size", "shape", "view", "items", "keys", "values", "get", "state_dict", "load_state_dict", "numpy", "item"):
            return self.forward(owner, args, kwargs, node, name)
        return self.through(args, kwargs, node, label)

    def _unknown_backward(self, owner: Unknown, args: Args, kwargs: Named, node: ast.AST) -> Value:
        given = args[0] if args else None
        name = owner.label.lower()
        if given is not None and isinstance(given, (Tensor, Unknown)):
            if "accelerator" in name or "fabric" in name:
                tensor = given if isinstance(given, Tensor) else Tensor(self.fresh(), opaque=True, presumed=True)
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

    # -- containers ---------------------------------------------------------------------------------------------

    def _container_method(self, owner: Any, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
        if isinstance(owner, list):
            if name == "append" and args:
                if len(owner) < 200:
                    owner.append(args[0])
                if isinstance(args[0], Tensor) and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                    self.keeps(node, ast.unparse(node.func.value), id(owner), args[0], None)
                return None
            if name == "extend" and args and isinstance(args[0], (list, tuple)):
                owner.extend(args[0][:50])
                return None
            if name == "extend" and args and isinstance(args[0], Parameters):
                owner.append(args[0])
                return None
            if name == "pop" and owner:
                return owner.pop()
            if name == "clear":
                owner.clear()
                return None
            if name in ("copy",):
                return list(owner)
        if isinstance(owner, dict):
            if name == "items":
                return [(key, value) for key, value in owner.items()]
            if name == "values":
                return list(owner.values())
            if name == "keys":
                return list(owner)
            if name == "get" and args and isinstance(args[0], (str, int)):
                return owner.get(args[0], args[1] if len(args) > 1 else None)
            if name == "setdefault" and args and isinstance(args[0], (str, int)):
                return owner.setdefault(args[0], args[1] if len(args) > 1 else None)
            if name == "pop" and args and isinstance(args[0], (str, int)):
                return owner.get(args[0], args[1] if len(args) > 1 else self.unknown(self.at(node)))
            if name == "update":
                for value in (*args, kwargs):
                    if isinstance(value, dict):
                        owner.update(value)
                return None
        if isinstance(owner, str):
            return self.unknown(f"text.{name}")
        return self.unknown(f"{name} {self.at(node)}")


def called_name(node: ast.AST) -> str:
    """The last part of the name before a method call."""
    owner = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    while isinstance(owner, ast.Subscript):
        owner = owner.value
    return owner.id if isinstance(owner, ast.Name) else owner.attr if isinstance(owner, ast.Attribute) else ""


def _flat(value: Value) -> list[Value]:
    if isinstance(value, (list, tuple)):
        return [item for one in value for item in _flat(one)]
    if isinstance(value, dict):
        return [item for one in value.values() for item in _flat(one)]
    return [value]
