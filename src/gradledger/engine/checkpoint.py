"""A window on disk: written whole or not at all, and refused if it is not one of ours."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from gradledger.engine.batches import Position
from gradledger.engine.counting import Window
from gradledger.engine.cycle import Cycle
from gradledger.ledger.account import Account, Posting, Run
from gradledger.ledger.errors import LedgerError
from gradledger.ledger.events import BackwardRan
from gradledger.ledger.site import Site
from gradledger.parallel.reduction import Reduction

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
    checked(state, "the state")
    if state["ranks"] != cycle.reduction.ranks and state["window"] is not None:
        raise ValueError(
            f"the open window was saved by {state['ranks']} processes and cannot go on in "
            f"{cycle.reduction.ranks}"
        )
    window = state["window"]
    held: dict[str, list[Tensor | None]] = {}
    if window is not None:
        mine = [cycle.roster.name(p) for p in cycle.parameters]
        strangers = {name for term in window["gradients"].values() for name in term} - set(mine)
        if strangers:
            raise ValueError(
                f"the saved gradients are of another model: it has no parameter {sorted(strangers)[0]!r}"
            )
        for term, saved in window["gradients"].items():
            held[term] = [
                _fitting(name, saved.get(name), p) for name, p in zip(mine, cycle.parameters, strict=True)
            ]
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
    models: Sequence[nn.Module],
    optimizers: Sequence[Optimizer],
    state: dict[str, Any],
    extra: dict[str, Any],
    reduction: Reduction,
) -> None:
    """Write to a temporary file beside the target, to the disk, and only then under its name."""
    target = _of_rank(path, reduction)
    content = {
        "format": FORMAT,
        "version": VERSION,
        "models": [model.state_dict() for model in models],
        "optimizers": [optimizer.state_dict() for optimizer in optimizers],
        "accumulator": state,
        "extra": extra,
    }
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            torch.save(content, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Put the new name on the disk as well, where the system lets us."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def read(
    path: str | os.PathLike[str],
    models: Sequence[nn.Module],
    optimizers: Sequence[Optimizer],
    reduction: Reduction,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Load model and optimizer; give the accumulator's state and the extra values."""
    source = _of_rank(path, reduction)
    try:
        content = torch.load(source, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise ValueError(f"there is no checkpoint {source}") from None
    except Exception as error:
        raise ValueError(
            f"{source} cannot be read as a checkpoint: it is cut off, damaged, or something else "
            f"({_first_line(error)})"
        ) from error
    checked(content, str(source))
    checked(content["accumulator"], str(source))
    if len(content["models"]) != len(models) or len(content["optimizers"]) != len(optimizers):
        raise ValueError(
            f"{source} holds {len(content['models'])} models and {len(content['optimizers'])} optimizers, "
            f"this accumulator has {len(models)} and {len(optimizers)}"
        )
    for model, saved in zip(models, content["models"], strict=True):
        model.load_state_dict(saved)
    for optimizer, saved in zip(optimizers, content["optimizers"], strict=True):
        optimizer.load_state_dict(saved)
    return content["accumulator"], content["extra"]


def _of_rank(path: str | os.PathLike[str], reduction: Reduction) -> Path:
    """Each rank's window is its own: with several, the rank is part of the name."""
    target = Path(path)
    if reduction.ranks == 1:
        return target
    return target.with_name(f"{target.stem}.rank{torch.distributed.get_rank()}{target.suffix}")


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
