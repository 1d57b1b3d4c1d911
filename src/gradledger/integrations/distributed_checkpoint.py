"""torch.distributed.checkpoint: an accumulator as one entry of a checkpoint that all ranks write together."""

from __future__ import annotations

import io
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.tensor import DTensor

from gradledger.engine.accumulator import Accumulator

Tree = dict[str, dict[str, Tensor]]


class Stateful:
    """What `torch.distributed.checkpoint` saves and loads in an accumulator's place.

    The open window differs from rank to rank, and a checkpoint keeps one value for each name: so each rank
    has a name of its own, and under it its window, as bytes that no later micro-batch can change. Use it
    under the same key for saving and loading, beside the model's and the optimizer's state:

        dcp.save({"model": model, "optimizer": optimizer, "accumulator": Stateful(acc)}, checkpoint_id=path)

    `save`, `async_save` and `load` may come in the middle of a window, on as many ranks as before.
    """

    def __init__(self, accumulator: Accumulator) -> None:
        self._accumulator = accumulator

    def state_dict(self) -> dict[str, bytes]:
        """This rank's state."""
        state = self._accumulator.state_dict()
        window = state["window"]
        if window is not None:
            window["gradients"] = _each(window["gradients"], lambda _, gradient: _local(gradient))
        file = io.BytesIO()
        torch.save(state, file)
        return {_mine(): file.getvalue()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        packed = state.get(_mine())
        if not isinstance(packed, bytes):
            raise ValueError(f"the checkpoint holds no accumulator of {_mine()}")
        content = torch.load(io.BytesIO(packed), weights_only=True)
        parameters = self._accumulator._cycle.roster.by_name()
        if content["window"] is not None:
            content["window"]["gradients"] = _each(
                content["window"]["gradients"], lambda name, gradient: _spread(gradient, parameters.get(name))
            )
        self._accumulator.load_state_dict(content)


def _each(tree: Tree, change: Any) -> Tree:
    return {
        term: {name: change(name, held) for name, held in inside.items()} for term, inside in tree.items()
    }


def _local(gradient: Tensor) -> Tensor:
    return gradient.to_local() if isinstance(gradient, DTensor) else gradient


def _spread(gradient: Tensor, parameter: Tensor | None) -> Tensor:
    """The gradient spread over the ranks as its parameter is."""
    if not isinstance(parameter, DTensor):
        return gradient
    return DTensor.from_local(
        gradient.to(parameter.to_local().device),
        parameter.device_mesh,
        parameter.placements,
        run_check=False,
        shape=parameter.shape,
        stride=parameter.stride(),
    )


def _mine() -> str:
    return f"rank{dist.get_rank() if dist.is_available() and dist.is_initialized() else 0}"
