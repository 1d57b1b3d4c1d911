"""Autocast, and the scale that keeps fp16 gradients from vanishing."""

from __future__ import annotations

import contextlib
import copy
from typing import Any, Literal

import torch
from torch import Tensor
from torch.amp.grad_scaler import GradScaler

Precision = Literal["fp32", "bf16", "fp16"]

_DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}


class Scaling:
    """The scale of one accumulator's losses; a window keeps the scale it was opened with."""

    def __init__(self, precision: str, scaler: GradScaler | None, device: torch.device) -> None:
        if precision not in ("fp32", *_DTYPES):
            raise ValueError(f'precision must be "fp32", "bf16" or "fp16", not {precision!r}')
        if scaler is not None and not isinstance(scaler, GradScaler):
            raise ValueError(f"scaler must be a torch.amp.GradScaler, not {type(scaler).__name__}")
        if scaler is None and precision == "fp16":
            scaler = GradScaler(device.type)
        self.scaler = scaler if scaler is not None and scaler.is_enabled() else None
        self._device = device
        self.now = 1.0
        """The scale of the open window."""
        self._context: Any = (
            contextlib.nullcontext()
            if precision == "fp32"
            else torch.autocast(device.type, _DTYPES[precision])
        )
        if self.scaler is not None:
            # The scale comes to life with the first loss.
            self.scaler.scale(torch.zeros((), device=device))
            self.now = self.scaler.get_scale()

    def autocast(self) -> contextlib.AbstractContextManager[Any]:
        """The context the forward runs in."""
        return self._context

    def fresh(self) -> contextlib.AbstractContextManager[Any]:
        """The same context, to be entered where the user may be inside of it already."""
        return copy.copy(self._context)

    def open(self) -> None:
        """Take the scale for a new window; others who share the scaler may have moved it."""
        if self.scaler is not None:
            self.now = self.scaler.get_scale()

    def update(self, optimizer: torch.optim.Optimizer, *, overflow: bool) -> None:
        """Let the scaler adapt to what this window showed."""
        if self.scaler is None:
            return
        found = torch.full((), float(overflow), device=self._device)
        # What unscale_() would have noted; the norm has told it already, so no pass over the gradients is
        # needed.
        self.scaler._per_optimizer_states[id(optimizer)]["found_inf_per_device"] = {self._device: found}
        self.scaler.update()

    def state_dict(self) -> dict[str, Any]:
        """Scale and growth, and the open window's scale."""
        return {"now": self.now, "scaler": None if self.scaler is None else self.scaler.state_dict()}

    def check(self, state: dict[str, Any]) -> None:
        """Refuse a state that does not fit."""
        if (state["scaler"] is None) != (self.scaler is None):
            raise ValueError(
                "one of checkpoint and accumulator has a gradient scaler and the other has none: "
                "resume with the precision the checkpoint was made with"
            )

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        if self.scaler is not None:
            self.scaler.load_state_dict(state["scaler"])
        self.now = state["now"]


def full_precision(loss: Tensor) -> Tensor:
    """A loss that can carry a large scale."""
    return loss.float() if loss.dtype in (torch.float16, torch.bfloat16) else loss


class WideGradients:
    """Lets parameters of low precision accumulate their gradients in a wider type."""

    def __init__(self, parameters: list[Tensor], dtype: torch.dtype) -> None:
        if not hasattr(torch.nn.Parameter, "grad_dtype"):
            raise ValueError(
                f"accumulate_in={dtype} needs Tensor.grad_dtype, which came with torch 2.9; this is "
                f"{torch.__version__}"
            )
        self._narrow = [p for p in parameters if p.dtype != dtype and p.dtype.is_floating_point]
        self._dtype = dtype
        self.widen()

    def widen(self) -> None:
        """Accumulate in the wide type from here on."""
        for p in self._narrow:
            p.grad_dtype = self._dtype

    def hand_over(self) -> None:
        """Give the optimizer gradients of the parameters' own type: others it refuses."""
        for p in self._narrow:
            grad, p.grad = p.grad, None
            p.grad_dtype = p.dtype
            if grad is not None:
                p.grad = grad.to(p.dtype)

    def release(self) -> None:
        """Leave the parameters as they were."""
        for p in self._narrow:
            p.grad = None
            p.grad_dtype = p.dtype
