"""One process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor


class Single:
    """Nothing to put together."""

    ranks = 1
    needs_equal_passes: ClassVar[bool] = False

    def before_forward(self, *, last: bool | None) -> None:
        """Nothing to prepare."""

    def before_backward(self, *, last: bool) -> bool | None:
        """Nothing is reduced."""
        return None

    def sums(self, values: Sequence[float]) -> list[float]:
        """The numbers themselves."""
        return list(values)

    def extremes(self, value: float) -> tuple[float, float]:
        """The number itself."""
        return value, value

    def gathered(self, value: Any) -> list[Any]:
        """This one alone."""
        return [value]

    def finish(
        self, gradients: Sequence[Sequence[Tensor | None]], like: Sequence[Tensor]
    ) -> list[list[Tensor | None]]:
        """The gradients themselves."""
        return [list(part) for part in gradients]

    def factor(self) -> float:
        """They are sums already."""
        return 1.0

    def norm(self, norms: Sequence[Tensor]) -> float:
        """The norm of the norms."""
        return float(torch.linalg.vector_norm(torch.stack(list(norms))))
