"""What a LightningModule's own methods do in the small model."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from gradledger.static.values import (
    NOTHING,
    Args,
    Function,
    Instance,
    Named,
    Optimizer,
    Scheduler,
    Value,
    flat,
)

if TYPE_CHECKING:
    from gradledger.static.modules import Modules

_SILENT = frozenset({"log", "log_dict", "print"})


def called(m: Modules, owner: Instance, name: str, args: Args, kwargs: Named, node: ast.AST) -> Value:
    """What `self.name(…)` yields; None if Lightning has no such method."""
    if name == "optimizers":
        return _one_or_all(m, _configured(m, owner, node, Optimizer), name)
    if name == "lr_schedulers":
        return _one_or_all(m, _configured(m, owner, node, Scheduler), name)
    if name == "save_hyperparameters":
        _save(m, owner)
    elif name == "manual_backward" and args:
        m.differentiate(node, args[0], args[1:], kwargs)
    elif name == "clip_gradients" and args and isinstance(args[0], Optimizer):
        m.clipped(node, args[0].accounts or NOTHING)
    elif name in ("toggle_optimizer", "untoggle_optimizer") and args:
        _toggle(m, owner, args[0], on=name == "toggle_optimizer")
    elif name not in _SILENT:
        return None
    return m.unknown(f"self.{name}()")


def _one_or_all(m: Modules, found: list[Value], name: str) -> Value:
    return found[0] if len(found) == 1 else found or m.unknown(f"self.{name}()")


def _configured(m: Modules, owner: Instance, node: ast.AST, kind: type) -> list[Value]:
    """What `configure_optimizers` returns of a kind; the trainer calls it once, before the first step."""
    made = owner.attrs.get("the optimizers")
    if made is None:
        configure = owner.cls.find("configure_optimizers")
        value = m.run_function(configure, [owner], {}, node) if isinstance(configure, Function) else None
        made = owner.attrs["the optimizers"] = [
            v for v in flat(value) if isinstance(v, (Optimizer, Scheduler))
        ]
    return [value for value in made if isinstance(value, kind)]


def _save(m: Modules, owner: Instance) -> None:
    """`self.hparams` holds from now on what the constructor was given."""
    hparams = m.unknown(f"{owner.label}.hparams", fleeting=False)
    hparams.attrs.update({name: value for name, value in m.scope.names.items() if value is not owner})
    owner.attrs["hparams"] = hparams


def _toggle(m: Modules, owner: Instance, chosen: Value, *, on: bool) -> None:
    """Between the two calls only the chosen optimizer's parameters require gradients."""
    if not on:
        m.frozen -= owner.attrs.pop("toggled off", set())
        return
    made = owner.attrs.get("the optimizers", ())
    known = all(one.accounts is not None for one in made if isinstance(one, Optimizer))
    if not isinstance(chosen, Optimizer) or chosen.accounts is None or not known:
        m.doubts.add("GL401")
        return
    others = {number for one in made if isinstance(one, Optimizer) for number in one.accounts or NOTHING}
    off = others - chosen.accounts - m.frozen
    m.frozen |= off
    owner.attrs["toggled off"] = off
