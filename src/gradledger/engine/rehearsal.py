"""Forwards that are only looked at: no running statistics move in them."""

from __future__ import annotations

import contextlib
import inspect
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from torch import Tensor, nn
from torch._compile import _disable_dynamo
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.module import register_module_forward_pre_hook
from torch.nn.parameter import is_lazy

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

    @_disable_dynamo
    def before(module: nn.Module, _: Any = None) -> None:
        if speak_of_batchnorm and isinstance(module, _BatchNorm) and module.training:
            _say_that_batchnorm_couples()
        kept.lend(module)

    with contextlib.ExitStack() as stack:
        _depth += 1
        stack.callback(_leave)
        stack.callback(kept.put_back)
        # A compiled model is not asked while it runs: it would be compiled again for the question.
        compiled = any(map(_is_compiled, modules))
        for module in modules:
            before(module) if compiled else kept.lend(module)
        if not compiled:
            stack.callback(register_module_forward_pre_hook(before).remove)
        yield


def _leave() -> None:
    global _depth
    _depth -= 1


def _is_compiled(module: nn.Module) -> bool:
    return hasattr(module, "_orig_mod") or getattr(module, "_compiled_call_impl", None) is not None


def modules_of(function: Any) -> list[nn.Module]:
    """The modules that a function is, belongs to, or has within reach."""
    try:
        seen = inspect.getclosurevars(function)
        reach = [*seen.nonlocals.values(), *seen.globals.values()]
    except TypeError:
        reach = []
    reach += [function, getattr(function, "__self__", None)]
    return [module for each in reach if isinstance(each, nn.Module) for module in each.modules()]


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
            if buffer is not None and not is_lazy(buffer):
                # Modules that share a buffer go on sharing it.
                module._buffers[name] = self._copies.setdefault(id(buffer), buffer.detach().clone())

    def put_back(self) -> None:
        for module, buffers in self._originals.items():
            for name, original in buffers.items():
                now = module._buffers.get(name)
                if original is not None and is_lazy(original):
                    continue  # it has come to life in place
                # One of another shape is a cache that has grown, and the module counts on it.
                if original is None or now is None or now.shape == original.shape:
                    module._buffers[name] = original


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
