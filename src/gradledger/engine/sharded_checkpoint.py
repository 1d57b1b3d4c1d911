"""A sharded training on disk: a folder written by all ranks together with torch.distributed.checkpoint."""

from __future__ import annotations

import io
import os
import shutil
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.checkpoint import state_dict_loader, state_dict_saver
from torch.distributed.checkpoint.filesystem import FileSystemReader, FileSystemWriter

from gradledger.engine.roster import Roster


def save(path: str | os.PathLike[str], roster: Roster, content: dict[str, Any]) -> None:
    """Write beside the target, and put the whole folder in its place when every rank is done."""
    target = Path(path)
    fresh, old = target.with_name(f".{target.name}.new"), target.with_name(f".{target.name}.old")
    window = content["accumulator"]["window"]
    gradients = {} if window is None else window.pop("gradients")
    states, groups = _optimizer_states(roster)
    tensors = {"gradients": gradients, "states": states, "models": _models(roster)}
    content |= {
        "groups": groups,
        "listed": {name: _listed(tensors[name]) for name in ("gradients", "states")},
    }
    if dist.get_rank() == 0:
        shutil.rmtree(fresh, ignore_errors=True)
    dist.barrier()
    state_dict_saver.save({**tensors, _mine(): _packed(content)}, storage_writer=FileSystemWriter(fresh))
    dist.barrier()
    if dist.get_rank() == 0:
        shutil.rmtree(old, ignore_errors=True)
        if target.exists():
            os.replace(target, old)
        os.replace(fresh, target)
        shutil.rmtree(old, ignore_errors=True)
    dist.barrier()


def read(path: str | os.PathLike[str], roster: Roster) -> dict[str, Any]:
    """Load models and optimizers; give this rank's content with its window's gradients."""
    if not Path(path).exists():
        raise ValueError(f"there is no checkpoint {path}")
    reader = FileSystemReader(path)
    try:
        found: Any = reader.read_metadata().state_dict_metadata.get(_mine())
    except Exception as error:
        raise ValueError(f"{path} cannot be read as a checkpoint: it is incomplete or damaged") from error
    if found is None:
        raise ValueError(f"{path} was not written by a rank {dist.get_rank()} of gradledger.Accumulator")
    packed = {_mine(): torch.empty(found.size, dtype=torch.uint8)}
    state_dict_loader.load(packed, storage_reader=reader)
    content = torch.load(io.BytesIO(packed[_mine()].numpy().tobytes()), weights_only=True)
    parameters = roster.by_name()
    tensors = {
        "gradients": _space(content["listed"]["gradients"], parameters, last=True),
        "states": _space(content["listed"]["states"], parameters, last=False),
        "models": _models(roster),
    }
    state_dict_loader.load(tensors, storage_reader=reader)
    for number, model in enumerate(roster.models):
        model.load_state_dict(tensors["models"][str(number)])
    _load_optimizers(roster, tensors["states"], content["groups"])
    if content["accumulator"]["window"] is not None:
        content["accumulator"]["window"]["gradients"] = tensors["gradients"]
    return content


def _models(roster: Roster) -> dict[str, Any]:
    return {str(number): dict(model.state_dict()) for number, model in enumerate(roster.models)}


def _optimizer_states(roster: Roster) -> tuple[dict[str, dict[str, Tensor]], list[Any]]:
    """The state of every parameter by its name and the state's, and the groups as plain data."""
    states: dict[str, dict[str, Tensor]] = {}
    groups = []
    for optimizer in roster.optimizers:
        saved = optimizer.state_dict()
        held = [p for group in optimizer.param_groups for p in group["params"]]
        for number, state in saved["state"].items():
            states[roster.name(held[number])] = state
        groups.append(saved["param_groups"])
    return states, groups


def _load_optimizers(roster: Roster, states: dict[str, dict[str, Tensor]], groups: list[Any]) -> None:
    for optimizer, saved in zip(roster.optimizers, groups, strict=True):
        held = [p for group in optimizer.param_groups for p in group["params"]]
        mine = {i: states[roster.name(p)] for i, p in enumerate(held) if roster.name(p) in states}
        optimizer.load_state_dict({"state": mine, "param_groups": saved})


def _listed(tree: dict[str, dict[str, Tensor]]) -> list[tuple[str, str, torch.dtype, list[int]]]:
    """Which tensors there are: what a reader needs to make room for them."""
    return [
        (first, second, tensor.dtype, list(tensor.shape))
        for first, inside in tree.items()
        for second, tensor in inside.items()
    ]


def _space(listed: list[Any], parameters: dict[str, Tensor], *, last: bool) -> dict[str, dict[str, Tensor]]:
    """Room for the listed tensors, spread as the parameters are whose shape they have."""
    tree: dict[str, dict[str, Tensor]] = {}
    for first, second, dtype, shape in listed:
        name = second if last else first
        if name not in parameters:
            raise ValueError(f"the checkpoint is of another model: this one has no parameter {name!r}")
        like = parameters[name]
        room = (
            torch.zeros_like(like, dtype=dtype)
            if list(like.shape) == shape
            else torch.zeros(shape, dtype=dtype)
        )
        tree.setdefault(first, {})[second] = room.detach()
    return tree


def _mine() -> str:
    return f"rank{dist.get_rank()}"


def _packed(content: dict[str, Any]) -> Tensor:
    """Plain data as a tensor of bytes: it differs between ranks, and has a size of its own."""
    file = io.BytesIO()
    torch.save(content, file)
    return torch.frombuffer(bytearray(file.getvalue()), dtype=torch.uint8)
