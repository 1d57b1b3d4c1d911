"""`value.name` in the small model."""

from __future__ import annotations

import ast

from gradledger.static.leaving import Leave
from gradledger.static.parts import Parts
from gradledger.static.reach import inherits_out_of_sight
from gradledger.static.values import (
    NOTHING,
    OF_A_LIST,
    Accelerator,
    Bound,
    ClassValue,
    Context,
    External,
    Function,
    Gradient,
    Instance,
    Iteration,
    Loader,
    Model,
    Namespace,
    Optimizer,
    Parameters,
    Scaler,
    Scheduler,
    Super,
    Tensor,
    Unknown,
    Value,
)

_FACTS = frozenset(
    {"shape", "device", "dtype", "size", "ndim", "is_cuda", "requires_grad", "grad_fn", "is_leaf"}
)


class Attributes(Parts):
    """The part of the machine that looks up attributes."""

    def attribute(self, value: Value, name: str, node: ast.AST) -> Value:
        """`value.name`."""
        kind = type(value)  # the usual kinds, quicker than by a match
        if kind is External:
            return External(f"{value.name}.{name}")
        if kind is Tensor:
            return self._tensor_attribute(value, name, node)
        if kind is Instance:
            return self._instance_attribute(value, name, node)
        if kind is Unknown:
            return self._unknown_attribute(value, name)
        match value:
            case Parameters():
                return self._parameters_attribute(value, name)
            case Gradient():
                if name == "data":
                    self.read_gradient(value, node)
                    return value
                return Bound(value, name)
            case Model():
                return self._model_attribute(value, name)
            case Optimizer():
                return self._optimizer_attribute(value, name)
            case Accelerator():
                known = {"sync_gradients": value.sync, "gradient_accumulation_steps": value.every}
                return known.get(name, Bound(value, name))
            case Namespace():
                return value.scope.names.get(name, self.unknown(f"{value.unit.path}.{name}"))
            case ClassValue():
                found = value.find(name)
                return self.unknown(f"{value.node.name}.{name}") if found is None else found
            case Super():
                return self._super_attribute(value, name)
            case Scheduler():
                return value.optimizer if name == "optimizer" else Bound(value, name)
            case Scaler() | Context() | Loader() | Iteration() | list() | dict() | tuple() | str():
                return Bound(value, name)
            case _:
                return self._other_attribute(value, name)

    def _other_attribute(self, value: Value, name: str) -> Value:
        if value is None and name in ("parameters", "named_parameters"):
            raise Leave  # as Python does: this path trains nothing
        if isinstance(value, Context):
            self.doubts.update(("GL501", "GL502"))  # entered by hand
        if name == "backward":
            # A number has none: the loop that adds the losses up was not followed.
            return Bound(self.unknown(self.label(value)), name)
        return self.unknown(f"{self.label(value)}.{name}")

    def _unknown_attribute(self, value: Unknown, name: str) -> Value:
        if name in value.attrs:
            return value.attrs[name]
        if name == "grad" and value.role == "leaf" and value.account is not None:
            return Gradient(frozenset((value.account,)), f"{value.label}.grad")
        if name == "module" and value.account is not None:
            return value
        made = self.unknown(f"{value.label}.{name}", fleeting=value.fleeting)
        made.of, made.asked = value, name  # a long label does not tell it any more
        return made

    def _parameters_attribute(self, value: Parameters, name: str) -> Value:
        if name == "grad":
            return Gradient(value.accounts, "p.grad")
        if name == "data":
            return Parameters(value.accounts, value.opaque, element=True, data=True)
        if name == "requires_grad":
            return bool(self.live(value.accounts)) if value.accounts else True
        return Bound(value, name)

    def _model_attribute(self, value: Model, name: str) -> Value:
        if name in value.attrs:
            return value.attrs[name]
        if name in ("weight", "bias") and value.account is not None:
            return Parameters(frozenset((value.account,)), element=True)
        if name == "module":
            return value.children[0] if value.replicated and value.children else value
        return Bound(value, name)

    def _optimizer_attribute(self, value: Optimizer, name: str) -> Value:
        if name in value.attrs:
            return value.attrs[name]
        if name == "param_groups":
            held = Parameters(value.accounts or NOTHING)
            return [{"params": held, "lr": self.unknown(f"{value.name}.lr")}]
        return value if name == "optimizer" else Bound(value, name)

    def _instance_attribute(self, value: Instance, name: str, node: ast.AST) -> Value:
        if name in value.attrs:
            return value.attrs[name]
        if name == "__dict__":
            return value.attrs
        found = value.cls.find(name)
        if isinstance(found, Function):
            if found.kind == "property":
                return self.apply(found, [value], {}, node)
            return found if found.kind == "static" else Bound(value, found)
        if found is not None:
            return found
        if name == "module" and value.replicated:
            return value
        if value.items is not None and name in OF_A_LIST:
            return Bound(value, name)
        if value.cls.is_module and name not in (
            "device",
            "hparams",
            "logger",
            "trainer",
            "config",
            "cfg",
            "args",
        ):
            return Bound(value, name)
        hands_on = value.cls.find("__getattr__")
        if isinstance(hands_on, Function) and not name.startswith("__"):
            return self.apply(hands_on, [value, name], {}, node)
        made = self.unknown(f"{value.label}.{name}")
        if inherits_out_of_sight(value.cls):
            self.inherited.add(made.label)
        return made

    def _super_attribute(self, value: Super, name: str) -> Value:
        instance = value.instance
        lineage = instance.cls.lineage() if isinstance(instance, Instance) else []
        after = lineage[lineage.index(value.after) + 1 :] if value.after in lineage else []
        for cls in after:
            if name in cls.attrs:
                found = cls.attrs[name]
                return Bound(instance, found) if isinstance(found, Function) else found
        return Bound(instance, name) if isinstance(instance, Instance) else self.unknown(f"super().{name}")

    def _tensor_attribute(self, value: Tensor, name: str, node: ast.AST) -> Value:
        if name == "grad":
            if value.leaf is not None:
                return Gradient(frozenset((value.leaf,)), "x.grad")
            return self.unknown(f"t{value.serial}.grad")
        if name == "data":
            if value.leaf is not None:
                return Parameters(frozenset((value.leaf,)), element=True, data=True)
            return self.tensor(rows=value.rows, cut=bool(value.deps) or value.cut)
        if name == "shape":
            return (
                (value.rows, self.unknown("dim"))
                if value.rows is not None
                else self.unknown(f"t{value.serial}.shape")
            )
        if name == "loss":
            made = self.tensor(value)
            made.reduction = "mean"
            return made
        if name == "requires_grad" and value.deps:
            return True
        if name in _FACTS and name != "size":
            return self.unknown(f"t{value.serial}.{name}")
        return Bound(value, name)
