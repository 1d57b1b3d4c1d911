"""Which way of putting gradients together a model needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.distributed as dist
from torch import nn

from gradledger.parallel.fsdp2 import Sharded, Traffic
from gradledger.parallel.reduction import Reduction
from gradledger.parallel.single import Single


def reduction_for(
    models: Sequence[nn.Module], group: Any, device: torch.device, traffic: Traffic = "micro_batch"
) -> Reduction:
    """One process, replicas or shards; `group` is a process group or a mesh of the data-parallel ranks."""
    if not dist.is_available() or not dist.is_initialized():
        if group is not None:
            raise ValueError("group= needs torch.distributed to be initialised first")
        return Single()
    modules = [module for model in models for module in model.modules()]
    chosen = group.get_group() if hasattr(group, "get_group") else group
    shards = [module for module in modules if hasattr(module, "set_requires_gradient_sync")]
    if shards:
        return Sharded(_outermost(models, shards), chosen or _mesh_group(models), device, traffic)
    # Imported here because it brings in much of torch.distributed.
    from torch.nn.parallel import DistributedDataParallel

    from gradledger.parallel.ddp import Replicas

    wrappers = [module for module in modules if isinstance(module, DistributedDataParallel)]
    if any(getattr(wrapper, "static_graph", False) for wrapper in wrappers):
        raise ValueError(
            "DistributedDataParallel(static_graph=True) must reduce in its first backward and cannot leave a "
            "window's micro-batches unreduced: build it without static_graph"
        )
    if wrappers:
        return Replicas(wrappers, chosen or wrappers[0].process_group, device)
    if group is not None:
        return Replicas([], chosen, device)
    return Single()


def _outermost(models: Sequence[nn.Module], shards: Sequence[nn.Module]) -> list[nn.Module]:
    """Setting a flag on these sets it on everything inside."""
    found = {id(shard) for shard in shards}
    outer: list[nn.Module] = []

    def visit(module: nn.Module) -> None:
        if id(module) in found:
            outer.append(module)
            return
        for child in module.children():
            visit(child)

    for model in models:
        visit(model)
    return outer


def _mesh_group(models: Sequence[nn.Module]) -> dist.ProcessGroup | None:
    """The group over which the first sharded parameter is spread."""
    for model in models:
        for parameter in model.parameters():
            mesh = getattr(parameter, "device_mesh", None)
            if mesh is not None:
                if mesh.ndim > 1:
                    raise ValueError(
                        f"the parameters are spread over a mesh with the dimensions {mesh.mesh_dim_names}: "
                        "pass group=mesh of the dimensions over which the data is split"
                    )
                return mesh.get_group()
    return None
