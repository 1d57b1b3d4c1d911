"""Everything that a resumed run needs, at any micro-batch."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from gradledger.engine import checkpoint_file, checkpoint_shape
from gradledger.engine.batches import Position
from gradledger.engine.counting import Window
from gradledger.engine.cycle import Cycle
from gradledger.engine.generations import Generations
from gradledger.ledger.account import Account, Posting, Run
from gradledger.ledger.errors import LedgerError
from gradledger.ledger.events import BackwardRan
from gradledger.ledger.site import Site

FORMAT = "gradledger.accumulator"
VERSION = 1


def state_of(cycle: Cycle, position: Position) -> dict[str, Any]:
    """Everything that a resumed run needs and model and optimizer do not hold, as plain data and tensors."""
    if cycle.damaged is not None:
        raise LedgerError(
            f"the backward at {cycle.damaged} failed half way: this window cannot be saved. Call "
            "acc.discard() first."
        )
    opened = cycle.books.opened_at
    window = None
    if cycle.window is not None:
        window = cycle.window.state_dict() | {
            "opened_at": ["<unknown>", 1] if opened is None else [opened.path, opened.line],
            "length": cycle.length,
            "gradients": _gradients(cycle),
        }
    return {
        "format": FORMAT,
        "version": VERSION,
        "ranks": cycle.reduction.ranks,
        "windows": cycle.windows,
        "applied": cycle.applied,
        "unit": cycle.sums.unit,
        "agreed": cycle.sums.agreed,
        "window": window,
        "position": position.state_dict(),
        "scaling": cycle.scaling.state_dict(),
        "schedules": cycle.schedules.state_dict(),
        "statistics": None if cycle.statistics is None else cycle.statistics.state_dict(),
    }


def _gradients(cycle: Cycle) -> dict[str, dict[str, Tensor]]:
    """The gradients of each loss term, by the parameters' names."""
    return {
        term: {
            cycle.roster.name(p): g.detach().clone()
            for p, g in zip(cycle.parameters, held, strict=True)
            if g is not None
        }
        for term, held in cycle.sums.by_term().items()
    }


def load(state: Mapping[str, Any], cycle: Cycle, position: Position, site: Site) -> None:
    """Check everything first, then take it over."""
    _take_over(state, prepared(state, cycle, "the state"), cycle, position, site)


def prepared(state: Any, cycle: Cycle, what: str) -> dict[str, list[Tensor | None]]:
    """The saved gradients of each loss term; or a ValueError, before anything has changed."""
    checked(state, what)
    checkpoint_shape.whole(state, what)
    cycle.scaling.check(state["scaling"])
    cycle.schedules.check(state["schedules"])
    window = state["window"]
    if window is None:
        return {}
    if state["ranks"] != cycle.reduction.ranks:
        raise ValueError(
            f"the open window was saved by {state['ranks']} processes and cannot go on in "
            f"{cycle.reduction.ranks}"
        )
    mine = [cycle.roster.name(p) for p in cycle.parameters]
    strangers = {name for term in window["gradients"].values() for name in term} - set(mine)
    if strangers:
        raise ValueError(f"the saved gradients are of another model: it has no parameter {min(strangers)!r}")
    return {
        term: [_fitting(name, saved.get(name), p) for name, p in zip(mine, cycle.parameters, strict=True)]
        for term, saved in window["gradients"].items()
    }


def _take_over(
    state: Mapping[str, Any],
    held: dict[str, list[Tensor | None]],
    cycle: Cycle,
    position: Position,
    site: Site,
) -> None:
    window = state["window"]
    cycle.scaling.load_state_dict(state["scaling"])
    cycle.schedules.load_state_dict(state["schedules"])
    position.load_state_dict(state["position"])
    cycle.resume(
        Window.from_state(window) if window is not None else None,
        held,
        windows=state["windows"],
        applied=state["applied"],
        unit=(state["unit"], state["agreed"]),
        site=site,
    )
    if cycle.statistics is not None:
        cycle.statistics.load_state_dict(state.get("statistics"))
    if window is not None:
        opened = Site(*window["opened_at"])
        ran = BackwardRan(opened, (1,), scaled_by=None if cycle.scaling.scaler is None else 1)
        cycle.books.assume(Account("held", (Run(Posting(ran), window["micro_batches"]),)), opened)


def _fitting(name: str, gradient: Tensor | None, parameter: Tensor) -> Tensor | None:
    if gradient is None:
        return None
    if gradient.shape != parameter.shape:
        raise ValueError(
            f"the saved gradient of {name} has the shape {tuple(gradient.shape)}, the parameter "
            f"{tuple(parameter.shape)}"
        )
    return gradient.to(parameter.device, copy=True)


def checked(state: Any, what: str) -> None:
    """Refuse what is not ours, or newer than this."""
    if not isinstance(state, Mapping) or state.get("format") != FORMAT:
        raise ValueError(f"{what} is not a checkpoint of gradledger.Accumulator")
    if state.get("version") != VERSION:
        raise ValueError(
            f"{what} has version {state.get('version')}; this gradledger reads version {VERSION}: update "
            "gradledger"
        )


def save(
    path: str | os.PathLike[str],
    cycle: Cycle,
    position: Position,
    generations: Generations,
    extra: dict[str, Any],
) -> None:
    """Write models, optimizers and the accumulator; sharded ones by all ranks together."""
    models, optimizers = cycle.roster.models, cycle.roster.optimizers
    content = {
        "format": FORMAT,
        "version": VERSION,
        "accumulator": state_of(cycle, position),
        "extra": extra,
    }
    if cycle.reduction.needs_equal_passes:
        # Imported here because only sharded models need it, and it is large.
        from gradledger.engine import sharded_checkpoint

        sharded_checkpoint.save(path, cycle.roster, content)
        return
    content["models"] = [model.state_dict() for model in models]
    content["optimizers"] = [optimizer.state_dict() for optimizer in optimizers]
    if cycle.reduction.ranks == 1:
        checkpoint_file.write(Path(path), content)
    else:
        generations.save(path, cycle.windows, content)


def resume(
    path: str | os.PathLike[str],
    cycle: Cycle,
    position: Position,
    generations: Generations,
    site: Site,
    *,
    or_none: bool,
) -> dict[str, Any] | None:
    """Read what `save` has written; gives its extra values, or None if there is nothing and that may be."""
    if cycle.reduction.needs_equal_passes:
        from gradledger.engine import sharded_checkpoint

        content = sharded_checkpoint.read(path, cycle.roster, or_none=or_none)
        if content is not None:
            load(content["accumulator"], cycle, position, site)
    else:
        content = _content(path, cycle, generations, or_none=or_none)
        if content is not None:
            _load_all(content, str(path), cycle, position, site)
    return None if content is None else content["extra"]


def _content(
    path: str | os.PathLike[str], cycle: Cycle, generations: Generations, *, or_none: bool
) -> dict[str, Any] | None:
    if cycle.reduction.ranks > 1:
        return generations.agreed(path, or_none=or_none)
    if or_none and not os.path.lexists(path):
        return None
    return checkpoint_file.read(Path(path))


def _load_all(content: dict[str, Any], what: str, cycle: Cycle, position: Position, site: Site) -> None:
    """Check everything first, then take over models, optimizers and the accumulator."""
    models, optimizers = cycle.roster.models, cycle.roster.optimizers
    checked(content, what)
    checkpoint_shape.contents(content, what, {"models": list, "optimizers": list, "extra": dict})
    held = prepared(content.get("accumulator"), cycle, what)
    if len(content["models"]) != len(models) or len(content["optimizers"]) != len(optimizers):
        raise ValueError(
            f"{what} holds {len(content['models'])} models and {len(content['optimizers'])} optimizers, "
            f"this accumulator has {len(models)} and {len(optimizers)}"
        )
    try:
        for model, saved in zip(models, content["models"], strict=True):
            model.load_state_dict(saved)
        for optimizer, saved in zip(optimizers, content["optimizers"], strict=True):
            optimizer.load_state_dict(saved)
        _take_over(content["accumulator"], held, cycle, position, site)
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        raise checkpoint_shape.damaged(what, "models, optimizers or schedulers") from error
