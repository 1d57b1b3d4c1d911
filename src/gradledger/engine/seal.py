"""A seal on the open window's gradients: nobody else touches them before it closes."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor


class Seal:
    """Remembers one gradient as it is; whoever clears or changes gradients, touches this one, too."""

    def __init__(self) -> None:
        self._at: tuple[Tensor, Tensor, int] | None = None

    def put(self, parameters: Sequence[Tensor]) -> None:
        """Take the gradients as they are now."""
        at = self._at
        if at is not None and at[0].grad is at[1]:
            self._at = (at[0], at[1], at[1]._version)
            return
        p = next((p for p in parameters if p.grad is not None), None)
        self._at = None if p is None or p.grad is None else (p, p.grad, p.grad._version)

    def remove(self) -> None:
        """The window is closed."""
        self._at = None

    def broken(self) -> str | None:
        """What was done to the gradients meanwhile."""
        if self._at is None:
            return None
        p, gradient, version = self._at
        if p.grad is None:
            return "the gradients of the open window were cleared"
        if p.grad is not gradient or gradient._version != version:
            return "the gradients of the open window were changed"
        return None
