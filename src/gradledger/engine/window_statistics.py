"""Running statistics of BatchNorm layers that are those of the whole window."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch._compile import _disable_dynamo
from torch.nn.modules.batchnorm import _BatchNorm

from gradledger.engine.rehearsal import rehearsing
from gradledger.ledger.errors import LedgerError

_watched: weakref.WeakKeyDictionary[nn.Module, weakref.ref[WindowStatistics]] = weakref.WeakKeyDictionary()
_NAMES = ("running_mean", "running_var", "num_batches_tracked")


class Pool:
    """Mean and spread of everything a layer has seen in the open window."""

    def __init__(self, count: float, mean: Tensor, spread: Tensor) -> None:
        self.count = count
        self.mean = mean
        self.spread = spread
        """The sum of squared distances from the mean."""

    def add(self, other: Pool) -> None:
        """Join two groups of values as if they had been one."""
        total = self.count + other.count
        apart = other.mean - self.mean
        self.mean = self.mean + apart * (other.count / total)
        self.spread = self.spread + other.spread + apart**2 * (self.count * other.count / total)
        self.count = total


class WindowStatistics:
    """Keeps running statistics still while a window is open, and moves them once when it is applied."""

    def __init__(self, found: Mapping[str, _BatchNorm], counts: Callable[[], bool]) -> None:
        self._layers = {name: layer for name, layer in found.items() if layer.track_running_stats}
        self._counts = counts
        """Whether the forward now running is one of the window's."""
        self._pools: dict[nn.Module, Pool] = {}
        self._lent: dict[nn.Module, tuple[dict[str, Tensor | None], float | None, bool]] = {}
        for name, layer in self._layers.items():
            other = _watched.get(layer)
            if other is not None and other() is not None:
                raise LedgerError(
                    f"the running statistics of {name or 'the layer'} already belong to another "
                    "gradledger.Accumulator: close() that one first"
                )
        owner = weakref.ref(self)
        hook = _Hook(owner)
        self._hooks: list[Any] = []
        for layer in self._layers.values():
            _watched[layer] = owner
            self._hooks.append(layer.register_forward_pre_hook(hook.before))
            self._hooks.append(layer.register_forward_hook(hook.after, always_call=True))

    def before(self, layer: nn.Module) -> None:
        """Lend the layer empty statistics, which its forward fills with those of the micro-batch.

        The layer's own are not written to, since autograd may hold them for a backward still to come.
        """
        assert isinstance(layer, _BatchNorm)
        recomputed = torch._C._current_graph_task_id() != -1  # by activation checkpointing
        if not layer.training or layer in self._lent or rehearsing():
            return
        takes = self._counts() and not recomputed
        self._lent[layer] = ({name: layer._buffers[name] for name in _NAMES}, layer.momentum, takes)
        layer.momentum = 1.0
        for name in _NAMES:
            own = layer._buffers[name]
            layer._buffers[name] = None if own is None else torch.zeros_like(own)

    def after(self, layer: nn.Module, result: Tensor | None) -> None:
        """Take the statistics over, and give the layer its own back."""
        assert isinstance(layer, _BatchNorm)
        if layer not in self._lent:
            return
        mean, variance = layer.running_mean, layer.running_var
        own, layer.momentum, takes = self._lent.pop(layer)
        layer._buffers.update(own)
        if not takes or result is None or mean is None or variance is None:
            return
        count = result.numel() / result.shape[1] * _ranks(layer)
        wide = torch.float32 if mean.device.type == "mps" else torch.float64
        new = Pool(count, mean.to(wide), variance.to(wide) * (count - 1))
        held = self._pools.get(layer)
        if held is None:
            self._pools[layer] = new
        else:
            held.add(new)

    def commit(self) -> None:
        """Move the running statistics, once, by what the window has shown."""
        for layer, pool in self._pools.items():
            assert isinstance(layer, _BatchNorm)
            tracked = layer.num_batches_tracked
            if tracked is not None:
                tracked.add_(1)
            if layer.momentum is not None:
                share = layer.momentum
            else:
                share = 1.0 if tracked is None else 1.0 / float(tracked)
            for own, new in (
                (layer.running_mean, pool.mean),
                (layer.running_var, pool.spread / max(pool.count - 1, 1)),
            ):
                if own is not None:
                    own.copy_(own.to(new.dtype) * (1 - share) + new * share)
        self.forget()

    def forget(self) -> None:
        """The window is gone; the running statistics stay as they are."""
        self._pools.clear()

    def close(self) -> None:
        """Leave the layers to themselves."""
        for hook in self._hooks:
            hook.remove()
        for layer in self._layers.values():
            _watched.pop(layer, None)

    def state_dict(self) -> dict[str, Any]:
        """The open window's part, by the layers' names."""
        return {
            name: [pool.count, pool.mean.clone(), pool.spread.clone()]
            for name, layer in self._layers.items()
            if (pool := self._pools.get(layer)) is not None
        }

    def load_state_dict(self, state: Mapping[str, Any] | None) -> None:
        """Go on from there."""
        strangers = set(state or ()) - set(self._layers)
        if strangers:
            raise ValueError(f"the saved statistics are of another model: no layer {sorted(strangers)[0]!r}")
        self._pools.clear()
        for name, (count, mean, spread) in (state or {}).items():
            layer = self._layers[name]
            place = None if layer.running_mean is None else layer.running_mean.device
            self._pools[layer] = Pool(count, mean.to(place, copy=True), spread.to(place, copy=True))


class _Hook:
    """Calls the statistics while they live; a copied or pickled model takes no part in them."""

    def __init__(self, owner: weakref.ref[WindowStatistics] | None = None) -> None:
        self._owner = owner

    def _found(self, layer: nn.Module) -> WindowStatistics | None:
        mine = _watched.get(layer)
        return self._owner() if self._owner is not None and mine is self._owner else None

    @_disable_dynamo
    def before(self, layer: nn.Module, _: Any) -> None:
        owner = self._found(layer)
        if owner is not None:
            owner.before(layer)

    @_disable_dynamo
    def after(self, layer: nn.Module, _: Any, result: Any) -> None:
        owner = self._found(layer)
        if owner is not None:
            owner.after(layer, result)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_Hook, ())


def _ranks(layer: nn.Module) -> int:
    """SyncBatchNorm shows the values of all ranks; ranks are taken to have equally many."""
    if isinstance(layer, nn.SyncBatchNorm) and dist.is_available() and dist.is_initialized():
        return dist.get_world_size(layer.process_group)
    return 1
