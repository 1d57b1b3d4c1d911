"""What is handed to an accumulator, looked at once: one clear ValueError for each thing that cannot work."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.optim import LBFGS, Optimizer

from gradledger.engine.counting import MOST_TERMS, SOLE, checked_count

Choice = TypeVar("Choice", bound=str)


def models(model: Any) -> tuple[nn.Module, ...]:
    """One model or several as a tuple."""
    found = (model,) if isinstance(model, nn.Module) else tuple(model) if isinstance(model, Iterable) else ()
    if not found or not all(isinstance(each, nn.Module) for each in found):
        raise ValueError(f"model must be a torch.nn.Module or several of them, not {_kind(model)}")
    return found


def optimizers(optimizer: Any) -> tuple[Optimizer, ...]:
    """One optimizer or several as a tuple."""
    found = (optimizer,) if isinstance(optimizer, Optimizer) else _tuple(optimizer)
    if not found or not all(isinstance(each, Optimizer) for each in found):
        raise ValueError(
            f"optimizer must be a torch.optim.Optimizer or several of them, not {_kind(optimizer)}"
        )
    if any(isinstance(each, LBFGS) for each in found):
        raise ValueError(
            "LBFGS evaluates its loss several times within one step, so a window cannot be collected for it: "
            "use optimizer.step(closure) with the whole batch"
        )
    return found


def one_of(choice: Choice, choices: Sequence[str], name: str) -> Choice:
    """A choice that exists."""
    if choice not in choices:
        raise ValueError(f"{name} must be {' or '.join(map(repr, choices))}, not {choice!r}")
    return choice


def names(modules: Sequence[nn.Module]) -> dict[int, str]:
    """Each parameter's name by its id, the same whether or not the model is wrapped."""
    found: dict[int, str] = {}
    for number, model in enumerate(modules):
        prefix = f"{number}:" if len(modules) > 1 else ""
        for name, parameter in model.named_parameters():
            parts = [part for part in name.split(".") if part not in ("module", "_orig_mod")]
            found.setdefault(id(parameter), prefix + ".".join(parts))
    return found


def parameters(owners: Sequence[Optimizer], known: Mapping[int, str]) -> list[Tensor]:
    """The optimizers' parameters, all of which must be the model's."""
    found: list[Tensor] = [p for o in owners for group in o.param_groups for p in group["params"]]
    strangers = sum(id(p) not in known for p in found)
    if strangers:
        raise ValueError(
            f"{strangers} of the optimizer's {len(found)} parameters are not the model's: the optimizer was "
            "built "
            "from another model, or before the model was moved, wrapped or had a layer replaced. Build it "
            "last."
        )
    if len({id(p) for p in found}) != len(found):
        raise ValueError("a parameter is held twice: by two of the optimizers, or by two groups of one")
    return found


def device(held: Sequence[Tensor]) -> torch.device:
    """The one device of all parameters."""
    devices = {p.device for p in held}
    if len(devices) != 1:
        listed = ", ".join(sorted(map(str, devices)))
        raise ValueError(f"the optimizer's parameters must be on one device, not on {listed}")
    return devices.pop()


def terms(loss: Any, count: Any, place: torch.device) -> list[tuple[str, Tensor, float]]:
    """The loss terms as (name, loss, count)."""
    if isinstance(loss, Mapping):
        if count is not None:
            raise ValueError("with several loss terms each has a count of its own: leave count= out")
        if not 1 <= len(loss) <= MOST_TERMS:
            raise ValueError(f"between 1 and {MOST_TERMS} loss terms are possible, not {len(loss)}")
        found = []
        for name in sorted(loss):
            try:
                value, number = loss[name]
            except (TypeError, ValueError):
                raise ValueError(
                    f"loss term {name!r} must be a pair (loss, count), not {_kind(loss[name])}"
                ) from None
            found.append((str(name), _loss(value, place, f"loss term {name!r}"), checked_count(number)))
        return found
    if count is None:
        raise ValueError(
            "count is missing: pass the number of samples or tokens this loss is the mean of, such as "
            "acc.backward(loss, count=len(batch)). It decides how much the micro-batch weighs in its window."
        )
    return [(SOLE, _loss(loss, place, "the loss"), checked_count(count))]


def _loss(loss: Any, place: torch.device, what: str) -> Tensor:
    if not isinstance(loss, Tensor):
        raise ValueError(f"{what} must be a tensor, not {_kind(loss)}")
    if loss.numel() != 1:
        raise ValueError(
            f"{what} must be a single number, not a tensor of shape {tuple(loss.shape)}: reduce it first"
        )
    if not loss.requires_grad:
        raise ValueError(
            f"{what} needs no gradient: it was computed under no_grad(), detached, or does not depend on "
            "any trainable parameter"
        )
    if loss.device != place and not (
        loss.device.type == place.type and None in (loss.device.index, place.index)
    ):
        raise ValueError(f"{what} is on {loss.device}, the parameters are on {place}")
    return loss


def _tuple(things: Any) -> tuple[Any, ...]:
    return tuple(things) if isinstance(things, Iterable) else ()


def _kind(thing: Any) -> str:
    return (
        f"{type(thing).__name__} ({thing!r})"
        if isinstance(thing, (int, float, str))
        else type(thing).__name__
    )
