"""BatchNorm under accumulation: found, and said once."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Mapping, Sequence
from typing import Literal

from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm

from gradledger.engine.cycle import Cycle
from gradledger.engine.window_statistics import WindowStatistics
from gradledger.ledger.site import Site

Statistics = Literal["micro_batch", "window"]
"""Running statistics move with every micro-batch, as torch does it, or once per window."""


def layers(models: Sequence[nn.Module]) -> dict[str, _BatchNorm]:
    """The BatchNorm layers by name, the same whether or not the model is wrapped."""
    found: dict[str, _BatchNorm] = {}
    for number, model in enumerate(models):
        prefix = f"{number}:" if len(models) > 1 else ""
        for name, module in model.named_modules():
            if isinstance(module, _BatchNorm):
                parts = [part for part in name.split(".") if part not in ("module", "_orig_mod")]
                found[prefix + ".".join(parts)] = module
    return found


def say_once(found: Mapping[str, _BatchNorm], made_at: Site) -> bool:
    """Warn if one of these layers is in training mode; whether that was so."""
    training = [name for name, layer in found.items() if layer.training]
    if training:
        number = "a BatchNorm layer" if len(training) == 1 else f"{len(training)} BatchNorm layers"
        warnings.warn_explicit(
            f"gradledger: {made_at}: the model holds {number} in training mode ({training[0] or 'itself'}). "
            "Each micro-batch is normalised by its own statistics, so a window is not exactly one large "
            "batch, and the running statistics move with every micro-batch. "
            'Accumulator(..., batchnorm="window") moves them once per window, with the statistics of the '
            "window; layers frozen by eval(), GroupNorm or LayerNorm make the gradient exact as well.",
            RuntimeWarning,
            made_at.path,
            made_at.line,
        )
    return bool(training)


def settle(found: Mapping[str, _BatchNorm], statistics: Statistics, cycle: Cycle, made_at: Site) -> None:
    """Let the cycle keep the statistics of windows, or say at the first long window that nobody does."""
    if not found:
        return
    if statistics == "window":
        # The hooks must not keep an accumulator alive that its user has let go.
        weak = weakref.ref(cycle)
        cycle.statistics = WindowStatistics(found, lambda: not getattr(weak(), "filler", True))
    else:
        cycle.openers.append(lambda length: length != 1 and say_once(found, made_at))
