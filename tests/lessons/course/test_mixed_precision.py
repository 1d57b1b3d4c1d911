"""What lesson 8 says of a scaler that is never updated, and of one that is made anew."""

from __future__ import annotations

import pytest
import torch


def test_a_second_step_without_update_raises_unless_the_scaler_is_new() -> None:
    w = torch.tensor(1.0, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)

    def step(scaler: torch.amp.GradScaler) -> None:
        optimizer.zero_grad()
        scaler.scale(3 * w).backward()
        scaler.step(optimizer)

    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    step(scaler)
    with pytest.raises(RuntimeError, match="since the last update"):
        step(scaler)
    step(torch.amp.GradScaler("cpu", init_scale=1024.0))
    assert w.item() == pytest.approx(0.4)
