"""What a user may hand over to be watched from the start."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn


def parameters_of(thing: Any) -> list[Tensor] | None:
    """The parameters of a model that receive gradients; None for what is not a model."""
    if not isinstance(thing, nn.Module):
        return None
    return [parameter for parameter in thing.parameters() if parameter.requires_grad]
