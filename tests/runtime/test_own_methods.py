"""Optimizers whose classes can do more than torch's."""

from __future__ import annotations

import torch
from torch import nn

import gradledger
from gradledger.rules.finding import Certainty
from gradledger.runtime.own_methods import own_methods


class Renamed(torch.optim.SGD):
    """Nothing of its own."""


class Stepping(torch.optim.SGD):
    """Its own step is one that torch's have as well."""

    def step(self, closure: object = None) -> None:  # type: ignore[override]
        super().step()

    def _helps(self) -> None:
        """Nobody else calls it."""


class Summing(torch.optim.SGD):
    """Sums up gradients that are cleared after it."""

    def collect(self) -> None:
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                state["sum"] = state.get("sum", 0) + p.grad

    def step(self, closure: object = None) -> None:  # type: ignore[override]
        with torch.no_grad():
            for p, state in self.state.items():
                p -= 0.1 * state.pop("sum")


def test_only_further_public_methods_count() -> None:
    params = [nn.Parameter(torch.ones(2))]
    made = (torch.optim.SGD, torch.optim.LBFGS, Renamed, Stepping, Summing)
    assert [own_methods(kind(params)) for kind in made] == [False, False, False, False, True]


def test_what_it_may_have_summed_up_was_perhaps_not_thrown_away() -> None:
    torch.manual_seed(0)
    model, x = nn.Linear(3, 1), torch.randn(8, 3)
    optimizer = Summing(model.parameters(), lr=0.1)
    with gradledger.watch(model, optimizer) as ledger:
        for _ in range(4):
            for part in x.chunk(4):
                optimizer.zero_grad()
                (model(part) ** 2).mean().backward()
                optimizer.collect()
            optimizer.step()
    assert {finding.certainty for finding in ledger.findings} <= {Certainty.POSSIBLE}
