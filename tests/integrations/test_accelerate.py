"""Accelerate: one line attaches the audit."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from gradledger import AuditError
from gradledger.integrations.accelerate import attach

pytestmark = pytest.mark.libraries


def train(accelerator: Accelerator, *, wrong: bool) -> None:
    x = torch.randn(32, 5)
    model: nn.Module = nn.Linear(5, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=4)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for _ in range(2):
        for inputs, targets in loader:
            with accelerator.accumulate(model):
                accelerator.backward(nn.functional.mse_loss(model(inputs), targets))
                if wrong:
                    optimizer.zero_grad()
                optimizer.step()
                optimizer.zero_grad()


def test_findings_are_warnings_and_entries_of_the_tracker(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    accelerator = Accelerator(
        cpu=True, gradient_accumulation_steps=2, log_with="tensorboard", project_dir=str(tmp_path)
    )
    accelerator.init_trackers("run")
    audit = attach(accelerator)
    train(accelerator, wrong=True)
    accelerator.end_training()
    assert [finding.code for finding in audit.findings] == ["GL102"]
    assert "gradledger: GL102 cleared-before-step" in caplog.text
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    assert EventAccumulator(str(tmp_path / "run")).Reload().Scalars("gradledger/errors")[-1].value == 1.0
    assert not hasattr(torch.Tensor.backward, "__gradledger__")


def test_right_training_is_left_in_peace() -> None:
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    audit = attach(accelerator, fail=True)
    train(accelerator, wrong=False)
    accelerator.end_training()
    assert audit.findings == ()
    assert audit.answer is not None
    assert audit.answer.checked.steps == 8
    again = attach(accelerator, fail=True)
    train(accelerator, wrong=True)
    with pytest.raises(AuditError, match="GL102"):
        again.end()
