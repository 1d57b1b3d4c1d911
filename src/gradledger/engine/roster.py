"""Which parameters an accumulator is about, by the names the model gives them."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn
from torch.optim import Optimizer

from gradledger.engine import inputs


class Roster:
    """Models and optimizers, and the parameters that the optimizers hold now."""

    def __init__(self, models: Sequence[nn.Module], optimizers: Sequence[Optimizer]) -> None:
        self.models = tuple(models)
        self.optimizers = tuple(optimizers)
        self.parameters: list[Tensor] = []
        self._names: dict[int, str] = {}
        self.read()

    def read(self) -> list[Tensor]:
        """Look again: parameters may have been added or replaced."""
        self._names = inputs.names(self.models)
        self.parameters = inputs.parameters(self.optimizers, self._names)
        return self.parameters

    def by_name(self) -> dict[str, Tensor]:
        """The parameters by their names."""
        return {self.name(p): p for p in self.parameters}

    def name(self, parameter: Tensor) -> str:
        """The parameter's name, the same whether or not the model is wrapped."""
        return self._names[id(parameter)]
