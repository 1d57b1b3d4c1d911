"""What every way of putting gradients together across processes can do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

from torch import Tensor


class Reduction(Protocol):
    """Puts the gradients and the counts of all ranks together."""

    ranks: int
    """How many processes see different data."""
    needs_equal_passes: ClassVar[bool]
    """Every rank has to run as many forward and backward passes as every other."""

    def before_forward(self, *, last: bool | None) -> None:
        """The next micro-batch is or is not the last of its window; None: nobody can tell yet."""

    def before_backward(self, *, last: bool) -> bool | None:
        """The next backward closes the window or not; whether it will reduce, None where nothing is."""

    def sums(self, values: Sequence[float]) -> list[float]:
        """These numbers summed over the ranks."""

    def extremes(self, value: float) -> tuple[float, float]:
        """The smallest and the largest of the ranks' numbers."""

    def gathered(self, value: Any) -> list[Any]:
        """The plain values of all ranks, in their order."""

    def finish(
        self, gradients: Sequence[Sequence[Tensor | None]], like: Sequence[Tensor]
    ) -> list[list[Tensor | None]]:
        """Each list of gradients over all ranks, up to `factor`."""

    def factor(self) -> float:
        """What the finished gradients must be multiplied by to be sums over the ranks."""

    def norm(self, norms: Sequence[Tensor]) -> float:
        """The norm of everything, from the norms of the gradients on this rank."""
