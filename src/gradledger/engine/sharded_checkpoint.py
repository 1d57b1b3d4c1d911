"""A sharded training on disk: a folder written by all ranks together with torch.distributed.checkpoint."""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.checkpoint import state_dict_loader, state_dict_saver
from torch.distributed.checkpoint.api import CheckpointException
from torch.distributed.checkpoint.filesystem import FileSystemWriter
from torch.distributed.checkpoint.metadata import TensorStorageMetadata

from gradledger.engine import checkpoint_shape
from gradledger.engine.roster import Roster
from gradledger.engine.shard_reader import PlainPlanner, ShardReader

_Found = TypeVar("_Found")


def save(path: str | os.PathLike[str], roster: Roster, content: dict[str, Any]) -> None:
    """Write beside the target, and put the whole folder in its place when every rank is done."""
    target = Path(path)
    fresh, old = _beside(target)
    window = content["accumulator"]["window"]
    gradients = {} if window is None else window.pop("gradients")
    states, groups = _optimizer_states(roster)
    tensors = {"gradients": gradients, "states": states, "models": _models(roster)}
    content |= {
        "groups": groups,
        "listed": {name: _listed(tensors[name]) for name in ("gradients", "states")},
    }
    _settle(target)
    state_dict_saver.save({**tensors, _mine(): _packed(content)}, storage_writer=FileSystemWriter(fresh))
    dist.barrier()
    if dist.get_rank() == 0:
        shutil.rmtree(old, ignore_errors=True)
        if target.exists():
            os.replace(target, old)
        os.replace(fresh, target)
        shutil.rmtree(old, ignore_errors=True)
    dist.barrier()


def _beside(target: Path) -> tuple[Path, Path]:
    """Where the next folder is written, and where the last one waits while they change places."""
    return target.with_name(f".{target.name}.new"), target.with_name(f".{target.name}.old")


def _settle(target: Path) -> None:
    """Finish what a killed run was about to do: the old folder goes only when the new one is whole."""
    fresh, old = _beside(target)
    if dist.get_rank() == 0:
        if not target.exists() and old.exists():
            os.replace(fresh if fresh.exists() else old, target)
        shutil.rmtree(fresh, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)
    dist.barrier()


def read(path: str | os.PathLike[str], roster: Roster, *, or_none: bool) -> dict[str, Any] | None:
    """Load models and optimizers; give this rank's content with its window's gradients."""
    _settle(Path(path))
    if not Path(path).exists():
        if or_none:
            return None
        raise ValueError(f"there is no checkpoint {path}")
    reader = ShardReader(path)
    content = _together(path, lambda: _own_content(path, reader))
    parameters = roster.by_name()
    listed = content["listed"]
    tensors = _together(
        path,
        lambda: {
            "gradients": _space(listed["gradients"], parameters, last=True),
            "states": _space(listed["states"], parameters, last=False),
            "models": _models(roster),
        },
    )
    _together(path, lambda: _load(tensors, reader))
    _together(path, lambda: _take_over(roster, tensors, content["groups"]))
    if content["accumulator"]["window"] is not None:
        content["accumulator"]["window"]["gradients"] = tensors["gradients"]
    return content


def _together(path: str | os.PathLike[str], work: Callable[[], _Found]) -> _Found:
    """Do it on all ranks, or say on all of them why one could not: nobody is left waiting for it."""
    found, fault = None, None
    try:
        found = work()
    except (Exception, CheckpointException) as error:  # torch derives its own from BaseException
        causes = getattr(error, "failures", None) or {0: (error, None)}  # torch tells of all ranks at once
        cause = next(iter(causes.values()))[0]
        words = str(cause).strip().splitlines()
        fault = words[0] if words and not isinstance(cause, KeyError) else type(cause).__name__
    faults: list[str | None] = [None] * dist.get_world_size()
    dist.all_gather_object(faults, fault)
    told = [f"rank {rank}: {fault}" for rank, fault in enumerate(faults) if fault is not None]
    if told:
        raise ValueError(
            f"{path} cannot be read as a checkpoint: it is incomplete, damaged, or something else ({told[0]})"
        )
    assert fault is None
    return cast(_Found, found)


def _own_content(path: str | os.PathLike[str], reader: ShardReader) -> dict[str, Any]:
    """What this rank has written beside the tensors that all share."""
    found: Any = reader.read_metadata().state_dict_metadata.get(_mine())
    if not isinstance(found, TensorStorageMetadata):
        raise ValueError(f"it was not written by a rank {dist.get_rank()} of gradledger.Accumulator")
    if found.size.numel() > sum(file.stat().st_size for file in Path(path).iterdir()):
        raise ValueError(f"it lists more of rank {dist.get_rank()} than it holds")
    packed = {_mine(): torch.empty(found.size, dtype=torch.uint8)}
    _load(packed, reader)
    content = torch.load(io.BytesIO(packed[_mine()].numpy().tobytes()), weights_only=True)
    checkpoint_shape.contents(
        content, "it", {"accumulator": dict, "extra": dict, "listed": dict, "groups": list}
    )
    return cast(dict[str, Any], content)


def _load(tree: dict[str, Any], reader: ShardReader) -> None:
    state_dict_loader.load(tree, storage_reader=reader, planner=PlainPlanner())


def _take_over(roster: Roster, tensors: dict[str, Any], groups: list[Any]) -> None:
    for number, model in enumerate(roster.models):
        model.load_state_dict(tensors["models"][str(number)])
    _load_optimizers(roster, tensors["states"], groups)


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
