"""What an exception shows once our frames are out of it."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest
import torch

import gradledger
from gradledger.host.tracebacks import without_us


def test_a_finding_that_is_raised_shows_no_frame_of_ours() -> None:
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with pytest.raises(gradledger.AuditError) as caught, gradledger.watch(fail_fast=True):
        for _ in range(3):
            model(torch.ones(1, 2)).sum().backward()
            optimizer.step()
    ours = Path(gradledger.__file__).parent
    folders = {Path(frame.filename).parent for frame in traceback.extract_tb(caught.value.__traceback__)}
    assert {ours / "ledger", ours / "audit"} <= folders, "the case has become too easy"
    without_us(caught.value)
    shown = [frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert shown[0] == __file__
    assert not [name for name in shown if name.startswith((str(ours), "<gradledger"))]
