"""Calls of what cannot be seen: what may come out, and what may have happened."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from gradledger.static.reach import acting, is_job, optimizers_within, within
from gradledger.static.statements import Statements
from gradledger.static.values import (
    NOTHING,
    Accounts,
    Args,
    Context,
    Instance,
    Model,
    Named,
    Optimizer,
    Parameters,
    Scaler,
    Tensor,
    Unknown,
    Value,
    flat,
)

_MODEL_USES = frozenset(
    {
        "parameters",
        "train",
        "eval",
        "zero_grad",
        "state_dict",
        "load_state_dict",
        "named_parameters",
        "module",
        "no_sync",
    }
)

# Compiled by `re` when they are first used, which in most programs they are not.
_MODEL_NAME = (
    r"(?i)model|net|encoder|decoder|generator|discriminator|critic|actor|policy|backbone|head|^[DG]$"
)
_NO_MODEL = r"(?i)loss|(?:type|name|path|dir|file|class|cls|id|config|cfg|args|size|dim|kwargs|params)$"
_STEPS = r"(?i)step|backward|zero|optimi[sz]|train|update|scaler|fit"
_HARMLESS = (
    r"(?i)lr|rate|sched|warmup|save|load|log|print|check|state|resume|eval|test|valid|plot|summar|prepare"
    r"|initialize|wrap|distributed|ema|swa|len|isinstance|id|type"
)
_MOVES = r"(?i)ema|swa|averag|copy|sync|soft|polyak|target|moment|lerp|vector_to_"
_MEASURES = r"(?i)loss|criterion|metric|accuracy|score|print|log|append|plot|isinstance|len|summary|save"
_DIFFERENTIATES = r"(?i)back|grad|train|step|update|fit|run|optimi"
_CYCLE = ("GL101", "GL102", "GL103", "GL105", "GL106", "GL202", "GL204", "GL401", "GL404")
"""What a clearing, a step or a pass at another time would change."""
_ANYTHING = ("GL101", "GL102", "GL105", "GL301", "GL302", "GL303", "GL305", "GL401")
"""What an object's own method that is not in sight may set right: it reaches all that the object has."""
MAY_CLEAR = r"(?i)zero|clear|reset|finish|begin|end_|after|before|post_|pre_|update|step"

_PLAIN = frozenset((type(None), bool, int, float, str, Tensor))
"""What certainly holds no parameters, and is most often given."""
_ENGINES = ("deepspeed.", "colossalai.", "torch_xla.", "horovod.", "smdistributed.", "composer.", "ignite.")
"""Libraries whose engines do the steps themselves."""


class Unseen(Statements):
    """The part of the machine that is careful."""

    def _call_unknown(self, callee: Unknown, args: Args, kwargs: Named, node: ast.AST) -> Value:
        if callee.of is not None and callee.of is not callee:
            return self.method(callee.of, callee.asked, args, kwargs, node)
        if (
            callee.label.endswith((".zero_grad", ".step", ".backward", ".parameters", ".train", ".eval"))
            or "." in callee.label
        ):
            owner_label, _, name = callee.label.rpartition(".")
            owner = self.unknowns.get(owner_label)
            if owner is not None and owner is not callee:
                return self.method(owner, name, args, kwargs, node)
        if self.discarding is node and any(isinstance(value, Tensor) and value.deps for value in args):
            self.leave_alone()
        if callee.label.endswith(".backward"):
            self.guessed = True
        if callee.label in self.inherited and not re.search(_HARMLESS, callee.label.rpartition(".")[2]):
            self.doubts.update(_ANYTHING if self.discarding is node else ("GL101", "GL401"))
        self.watch_out(callee.label, args, kwargs, node)
        if self.is_model(callee):
            return self.forward(callee, args, kwargs, node)
        return self.through(args, kwargs, node, callee.label)

    def leave_alone(self) -> None:
        """Something that cannot be seen takes part in the cycle: nothing can be said of these optimizers."""
        self.hooked = True

    def is_model(self, value: Unknown) -> bool:
        """Whether something unseen is used as a model."""
        if value.account is not None and value.role is None:
            return True
        name = re.split(r"[.\]]", value.label.rstrip("]"))[-1] if "@" not in value.label else ""
        uses = self.unit.uses.get(name, set())
        if "(" in name:
            return False
        if uses & _MODEL_USES:
            return True
        return bool(re.search(_MODEL_NAME, name)) and not re.search(_NO_MODEL, name)

    def watch_out(self, name: str, args: Args, kwargs: Named, node: ast.AST | None = None) -> None:
        """Something that cannot be seen is given an optimizer: it may do anything with it."""
        given = [*args, *kwargs.values()]
        self.lent = self.lent or any(isinstance(value, Tensor) and value.deps for value in given)
        optimizers = [value for value in given if isinstance(value, Optimizer)]
        if "sync" in name or any(isinstance(v, Context) and v.kind == "no_sync" for v in given):
            self.doubts.update(("GL501", "GL502"))  # when it is entered cannot be told
        hidden = not optimizers and any(
            optimizers_within(value) for value in given if type(value) not in _PLAIN
        )
        unseen = [v for v in given if isinstance(v, Unknown) and isinstance(v.role, Optimizer)]
        optimizers += [value.role for value in unseen]
        last = name.rsplit(".", 1)[-1]
        models = any(
            isinstance(value, Model) or (isinstance(value, Instance) and value.cls.is_module)
            for value in given
        )
        if models and re.search(MAY_CLEAR, last):
            self.doubts.add("GL101")
        effective = node is not None and self.discarding is node and bool(self.loops)
        if models and effective and not re.search(_HARMLESS, last):
            self.doubts.update(
                ("GL101", "GL401")
            )  # called for what it does to the model: clear it, freeze it
        if any(isinstance(value, Scaler) for value in given) and not re.search(_HARMLESS, last):
            self.doubts.update(("GL301", "GL302", "GL303", "GL305", "GL308"))
        self._hand_out(last, given)
        self.entrust(given)
        self.forget_given(last, given)
        if hidden and not re.search(_HARMLESS, last):
            self.doubts.update(("GL101", "GL401"))
        if name.startswith(_ENGINES) and (optimizers or models):
            self.leave_alone()
        if not optimizers:
            return
        self.doubts.add("GL404")  # whoever has it may step it
        if not re.search(_HARMLESS, last):
            self.doubts.update(("GL101", "GL102", "GL103", "GL105"))
        losses = any(isinstance(value, Tensor) and value.deps for value in given)
        if losses or (
            re.search(_STEPS, last)
            and not re.search(r"sched|lr|warmup|resume|load|save", last, re.IGNORECASE)
        ):
            for optimizer in optimizers:
                optimizer.untold = True

    def entrust(self, given: Iterable[Value]) -> None:
        """Something unseen was given functions: when those that act are called cannot be told."""
        for value in given:
            if type(value) in _PLAIN:
                continue
            for part in within(value):
                if acting(part) and not is_job(part):
                    self.doubts.update(_CYCLE)

    def _hand_out(self, name: str, given: list[Value]) -> None:
        """Something unseen is given a model: it may read gradients, put some there, or freeze it."""
        accounts: Accounts = NOTHING
        for value in given:
            if type(value) in _PLAIN:
                continue
            for part in within(value):
                accounts |= part.accounts if isinstance(part, Parameters) else self.accounts_of(part)
        if re.search(_MOVES, name):
            self.moved_away(accounts)
        if not accounts or re.search(_HARMLESS, name):
            return
        given_away = self.resolve(accounts)
        self.looked_at |= given_away
        self.lent_out |= given_away
        if re.search(_DIFFERENTIATES, name):
            self.doubts.update(("GL102", "GL106", "GL304"))
        for number in accounts:
            self.boxes[number].handed_out = True

    def through(self, args: Args, kwargs: Named, node: ast.AST, label: str = "") -> Value:
        """What comes out of a call that cannot be seen: it may depend on everything that went in."""
        given = [*args, *kwargs.values()]
        inside = [item for value in given for item in flat(value)]
        tensors = [v for v in inside if isinstance(v, Tensor) and (v.deps or v.opaque)]
        leaves = [v for v in inside if isinstance(v, Unknown) and v.role == "leaf"]
        models = [
            v
            for v in inside
            if isinstance(v, (Model, Instance))
            or (isinstance(v, Unknown) and v.account is not None and v.role is None)
        ]
        deps = NOTHING if self.no_grad else self.live(self.accounts_of(models))
        for value in inside:
            if isinstance(value, Parameters) and value.element and not value.data and not self.no_grad:
                deps |= self.live(value.accounts)
        if self.passless and (tensors or leaves or models) and not re.search(_MEASURES, label):
            self.guessed = True  # the pass may be in there
        if tensors or leaves or deps:
            made = self.tensor(*tensors, *leaves)
            made.deps |= deps
            self.obscure.add(made.serial)
            if models and label:
                self.agents[made.serial] = models
            made.presumed = True
            made.reduction = "mean" if "loss" in label.lower() or "criterion" in label.lower() else "unknown"
            if made.reduction == "unknown":
                made.factor = None if any(t.reduction != "unknown" for t in tensors) else 1.0
            return made
        return self.unknown(f"{label}(){self.at(node)}")
