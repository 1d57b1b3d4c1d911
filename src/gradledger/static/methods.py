"""A method of something that is not in the source."""

from __future__ import annotations

import ast
from typing import Any

from gradledger.static.guesses import Guesses, called_name
from gradledger.static.values import (
    OF_A_LIST,
    Accelerator,
    Args,
    Context,
    Gradient,
    Instance,
    Iteration,
    Loader,
    Model,
    Named,
    Optimizer,
    Parameters,
    Scaler,
    Scheduler,
    Tensor,
    Unknown,
    Value,
)

_TEXTS = frozenset(["lower", "upper", "strip", "replace", "removeprefix", "removesuffix"])
"""What makes one text of another. Questions stay open: parameters chosen by name are not all reached."""

_OF_A_MODULE = frozenset({"zero_grad", "parameters", "named_parameters"})

MOST_KEPT = 200
"""How many items of a growing list are held."""


class Methods(Guesses):
    """The part of the machine that knows whose method it is."""

    def method(self, owner: Value, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
        """A method of something that is not in the source."""
        match owner:
            case Tensor():
                if name in _OF_A_MODULE and owner.serial not in self.agents:
                    # What was taken for a model's output is a model that something unseen made.
                    self.agents[owner.serial] = [Model("unseen", number) for number in sorted(owner.deps)]
                    self.doubts.update(("GL101", "GL401") if not owner.deps else ())
                told = self.agent_method(owner, name, node) if owner.serial in self.agents else None
                return self._tensor_method(owner, name, args, kwargs, node) if told is None else told[0]
            case Optimizer():
                return self._optimizer_method(owner, name, args, kwargs, node)
            case Parameters():
                return self._parameters_method(owner, name, args, kwargs, node)
            case Gradient():
                return self._gradient_method(owner, name, args, kwargs, node)
            case Instance(items=list() as items) if name in OF_A_LIST:
                return self._list_method(items, name, args, kwargs, node)
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
            case Context():
                return self._context_method(owner, name, args, node)
            case Loader() | Iteration():
                return self.unknown(f"loader.{name}")
            case _:
                return self.through(args, kwargs, node, name)

    def _context_method(self, owner: Context, name: str, args: Args, node: ast.AST) -> Value:
        """A context that is entered and left by hand, or by a stack of them."""
        if owner.kind == "stack" and name == "enter_context" and args:
            owner.owner.append(args[0])  # left when the stack is
            return self.enter(args[0], node)
        if name == "__enter__":
            return self.enter(owner, node)
        if name in ("__exit__", "close"):
            self.leave(owner, node)
        if owner.kind == "stack" and name in ("callback", "push"):
            self.watch_out(name, args, {})
        return self.unknown(f"{name} {self.at(node)}")

    def _container_method(self, owner: Any, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
        if isinstance(owner, list):
            return self._list_method(owner, name, args, kwargs, node)
        if isinstance(owner, dict):
            return self._dict_method(owner, name, args, kwargs, node)
        if isinstance(owner, str) and name in _TEXTS and all(isinstance(part, str) for part in args):
            return getattr(owner, name)(*args[:2])
        return self.unknown(f"{name} {self.at(node)}")

    def _list_method(self, owner: list[Value], name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
        first = args[0] if args else None
        match name:
            case "append":
                if len(owner) < MOST_KEPT:
                    owner.append(first)
                if isinstance(first, Tensor):
                    self.keeps(node, called_name(node) or "a list", owner, first, None)
            case "extend":
                owner.extend(first[:50] if isinstance(first, (list, tuple)) else [first])
            case "pop":
                at = first if isinstance(first, int) and -len(owner) <= first < len(owner) else -1
                return owner.pop(at) if owner else self.unknown(self.at(node))
            case "insert" if isinstance(first, int) and len(args) > 1 and len(owner) < MOST_KEPT:
                owner.insert(first, args[1])
            case "reverse":
                owner.reverse()
            case "sort":
                owner[:] = self.apply(self.lookup("sorted"), [owner], kwargs, node)
            case "remove":
                owner[:] = [held for held in owner if held is not first and not _equal(held, first)]
            case "clear":
                owner.clear()
                self.emptied(owner)
            case "copy":
                return list(owner)
            case _:
                return self.unknown(f"{name} {self.at(node)}")
        return None

    def _dict_method(
        self, owner: dict[Any, Value], name: str, args: Args, kwargs: Named, node: ast.AST
    ) -> Value:
        key = args[0] if args else None
        otherwise = args[1] if len(args) > 1 else None
        match name:
            case "items":
                return list(owner.items())
            case "values":
                return list(owner.values())
            case "keys":
                return list(owner)
            case "get" if isinstance(key, (str, int)):
                return owner.get(key, otherwise)
            case "setdefault" if isinstance(key, (str, int)):
                return owner.setdefault(key, otherwise)
            case "pop" if isinstance(key, (str, int)):
                return owner.pop(key, otherwise)
            case "clear":
                owner.clear()
                return None
            case "update":
                for value in (*args, kwargs):
                    owner.update(value if isinstance(value, dict) else {})
                    if isinstance(value, Unknown):
                        self.forget(owner)
                return None
            case _:
                return self.unknown(f"{name} {self.at(node)}")


def _equal(one: Value, other: Value) -> bool:
    return isinstance(one, (str, int, float)) and isinstance(other, (str, int, float)) and one == other
