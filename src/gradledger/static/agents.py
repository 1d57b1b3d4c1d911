"""What something unseen makes of a model: a wrapper, an optimizer, a helper, or a loss."""

from __future__ import annotations

import ast
import re

from gradledger.static.calls import Calls
from gradledger.static.unseen import MAY_CLEAR
from gradledger.static.values import Args, Named, Parameters, Tensor, Value

_STAYS = frozenset(
    {"train", "eval", "to", "cuda", "apply", "share_memory", "compile", "requires_grad_", "float", "half"}
)
_OF_A_TENSOR = frozenset(
    {
        "backward",
        "item",
        "detach",
        "detach_",
        "mean",
        "sum",
        "nanmean",
        "cpu",
        "numpy",
        "tolist",
        "clone",
        "view",
        "reshape",
        "squeeze",
        "unsqueeze",
        "size",
        "dim",
        "type",
        "double",
        "bfloat16",
        "contiguous",
        "div",
        "div_",
        "mul",
        "mul_",
        "add",
        "add_",
        "sub",
        "sub_",
        "neg",
        "abs",
        "pow",
        "exp",
        "log",
        "sqrt",
        "max",
        "min",
        "norm",
        "flatten",
        "permute",
        "transpose",
        "chunk",
        "split",
        "tensor_split",
        "unbind",
        "numel",
        "isnan",
        "isinf",
        "expand",
        "repeat",
    }
)


class Agents(Calls):
    """The part of the machine that asks what something made of a model is."""

    def agent_method(self, owner: Tensor, name: str, node: ast.AST) -> tuple[Value] | None:
        """The answer, or None if the method says nothing about it."""
        models = self.agents[owner.serial]
        accounts = self.accounts_of(models)
        if name == "zero_grad":
            self.cleared(node, accounts, "module")
            return (None,)
        if name in ("parameters", "trainable_parameters", "get_parameters"):
            return (Parameters(accounts, opaque=True),)
        if name == "named_parameters":
            return ([(self.unknown("parameter name"), Parameters(accounts, opaque=True, element=True))],)
        if name in _STAYS:
            return (owner,)
        if name in _OF_A_TENSOR:
            return None
        if name == "step" and "zero_grad" in self.unit.uses.get(_called(node), set()):
            self.leave_alone()
        given_away = self.resolve(accounts)
        self.looked_at |= given_away
        self.lent_out |= given_away
        if re.search(MAY_CLEAR, name):
            self.doubts.update(("GL101", "GL401"))
        return None

    def call_agent(self, agent: Tensor, args: Args, kwargs: Named, node: ast.AST) -> Value:
        """A call of it is a pass through the models it was made of."""
        made = self.tensor(*args, *kwargs.values())
        if not self.no_grad:
            made.deps |= self.live(self.accounts_of(self.agents[agent.serial]))
            self.partook.update(made.deps)
        self.obscure.add(made.serial)
        made.presumed = True
        return made


def _called(node: ast.AST) -> str:
    function = node.func if isinstance(node, ast.Call) else None
    owner = function.value if isinstance(function, ast.Attribute) else None
    return owner.id if isinstance(owner, ast.Name) else getattr(owner, "attr", "")
