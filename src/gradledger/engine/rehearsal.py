"""Forwards that are only looked at: no running statistics move in them."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.module import register_module_forward_pre_hook

from gradledger.engine.lines import caller

_depth = 0
_spoken = False


def rehearsing() -> bool:
    """Whether the forward now running does not count."""
    return _depth > 0


@contextlib.contextmanager
def rehearsal(modules: Sequence[nn.Module] = (), *, speak_of_batchnorm: bool = False) -> Iterator[None]:
    """Let forwards run; afterwards the buffers of these modules, and of all that ran, are what they were."""
    global _depth
    kept = _Buffers()

    def before(module: nn.Module, _: Any) -> None:
        if speak_of_batchnorm and isinstance(module, _BatchNorm) and module.training:
            _say_that_batchnorm_couples()
        kept.lend(module)

    for module in modules:
        kept.lend(module)
    hook = register_module_forward_pre_hook(before)
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1
        hook.remove()
        kept.put_back()


class _Buffers:
    """Modules work on copies of their buffers meanwhile.

    The originals are not written to, since autograd may hold them for a backward that is still to come.
    """

    def __init__(self) -> None:
        self._originals: dict[nn.Module, dict[str, Tensor | None]] = {}
        self._copies: dict[int, Tensor] = {}

    def lend(self, module: nn.Module) -> None:
        if module in self._originals:
            return
        self._originals[module] = dict(module._buffers)
        for name, buffer in module._buffers.items():
            if buffer is not None:
                # Modules that share a buffer go on sharing it.
                module._buffers[name] = self._copies.setdefault(id(buffer), buffer.detach().clone())

    def put_back(self) -> None:
        for module, buffers in self._originals.items():
            module._buffers.clear()
            module._buffers.update(buffers)


def _say_that_batchnorm_couples() -> None:
    global _spoken
    if not _spoken:
        _spoken = True
        site = caller()
        warnings.warn_explicit(
            "gradledger: the encoder holds BatchNorm layers in training mode, which normalise each "
            "micro-batch by itself: cached_backward is exact for these micro-batches, not for the whole "
            "batch. Freeze the layers with eval(), or use GroupNorm or LayerNorm.",
            RuntimeWarning,
            site.path,
            site.line,
        )
