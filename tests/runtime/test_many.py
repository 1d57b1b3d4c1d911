"""Many parameter tensors, many models and optimizers at once: right ones silent, the wrong one found."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import gradledger


def test_ten_thousand_tensors_are_one_group() -> None:
    model = nn.Sequential(*(nn.Linear(2, 2) for _ in range(5_000)))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-9)
    with gradledger.watch() as ledger:
        for clears in (True, True, False):
            if clears:
                optimizer.zero_grad()
            model(torch.ones(1, 2)).sum().backward()
            optimizer.step()
    (finding,) = ledger.findings
    assert (finding.code, finding.count) == ("GL101", 1)
    assert ledger.so_far().checked.parameters == 10_000
    assert ledger.so_far().checked.groups == 1


@pytest.mark.parametrize("forgotten", [None, 5])
def test_eight_models_with_sixteen_optimizers(forgotten: int | None) -> None:
    torch.manual_seed(0)
    parts = []
    x = torch.randn(8, 4)
    with gradledger.watch() as ledger:
        for _ in range(8):
            body, head = nn.Linear(4, 4), nn.Linear(4, 1)
            parts.append((body, head, [torch.optim.SGD(part.parameters(), lr=1e-3) for part in (body, head)]))
        for _ in range(40):
            for number, (body, head, optimizers) in enumerate(parts):
                for optimizer in optimizers if number != forgotten else optimizers[:1]:
                    optimizer.zero_grad()
                head(body(x)).square().mean().backward()
                for optimizer in optimizers:
                    optimizer.step()
    assert [(f.code, f.count) for f in ledger.findings] == ([] if forgotten is None else [("GL101", 39)])
    assert ledger.so_far().checked.steps == 40 * 16
