"""TensorBoard, Weights & Biases and MLflow: what was written is read back."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import gradledger
from gradledger.integrations import mlflow as to_mlflow
from gradledger.integrations import tensorboard as to_tensorboard
from gradledger.integrations import wandb as to_wandb
from gradledger.integrations.scalars import points
from gradledger.ledger.recording import RecordingError

pytestmark = pytest.mark.libraries

FRESH, STALE = "gradledger/inside/fresh_micro_batches", "gradledger/inside/stale_micro_batches"


def build() -> tuple[nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(0)
    model = nn.Linear(3, 1)
    return model, torch.optim.SGD(model.parameters(), lr=0.25)


def train(model: nn.Module, optimizer: torch.optim.Optimizer) -> list[tuple[float, float]]:
    """Four stale windows of two micro-batches; gives each step's mean loss and norm."""
    told = []
    for _ in range(4):
        losses = []
        for _ in range(2):
            loss = nn.functional.mse_loss(model(torch.randn(5, 3)), torch.ones(5, 1)) / 2
            loss.backward()
            losses.append(loss.item())
        norm = torch.stack([p.grad.norm() for p in model.parameters()]).norm().item()
        optimizer.step()
        told.append((sum(losses) / 2, norm))
    return told


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "run.jsonl"
    with gradledger.watch(save=str(path)):
        train(*build())
    return path


def test_numbers_of_a_recording(recording: Path) -> None:
    found = list(points(recording))
    assert [step for step, _ in found] == [1, 2, 3, 4]
    assert [numbers[FRESH] for _, numbers in found] == [2, 2, 2, 2]
    assert [numbers[STALE] for _, numbers in found] == [0, 2, 4, 6]
    assert [numbers["gradledger/outcome/steps_applied"] for _, numbers in found] == [1, 2, 3, 4]
    assert found[0][1]["gradledger/state/accumulated"] == 2
    assert found[1][1]["gradledger/state/stale"] == 2


def test_skipped_steps_are_an_outcome(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    model, optimizer = build()
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0)
    with gradledger.watch(save=str(path)):
        for broken in (False, True, False):
            optimizer.zero_grad()
            scaler.scale(model(torch.randn(5, 3)).mean() * (math.inf if broken else 1.0)).backward()
            scaler.step(optimizer)
            scaler.update()
    outcomes = [
        (numbers["gradledger/outcome/steps_applied"], numbers["gradledger/outcome/steps_skipped"])
        for _, numbers in points(path)
    ]
    assert outcomes == [(1, 0), (1, 1), (2, 1)]


def test_what_is_no_recording_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("hello\n")
    with pytest.raises(RecordingError, match="not a recording"):
        to_tensorboard.export(tmp_path / "a.jsonl", tmp_path / "logs")


def _scalars(folder: Path) -> tuple[Callable[[str], list[tuple[int, float]]], str]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder)).Reload()
    text = events.Tensors("gradledger/findings/text_summary")[0].tensor_proto.string_val[0].decode()
    return lambda name: [(each.step, each.value) for each in events.Scalars(name)], text


def test_tensorboard_from_a_recording(recording: Path, tmp_path: Path) -> None:
    assert to_tensorboard.export(recording, tmp_path / "logs") == 4
    scalars, text = _scalars(tmp_path / "logs")
    assert scalars(STALE) == [(1, 0), (2, 2), (3, 4), (4, 6)]
    assert "GL101" in text


def test_tensorboard_live(tmp_path: Path) -> None:
    from torch.utils.tensorboard import SummaryWriter

    model, optimizer = build()
    with SummaryWriter(str(tmp_path)) as writer, to_tensorboard.watch(writer, model, optimizer) as ledger:
        told = train(model, optimizer)
    scalars, text = _scalars(tmp_path)
    assert scalars(STALE) == [(1, 0), (2, 2), (3, 4), (4, 6)]
    assert [value for _, value in scalars("gradledger/loss")] == pytest.approx([loss for loss, _ in told])
    assert [value for _, value in scalars("gradledger/norm/gradient")] == pytest.approx(
        [norm for _, norm in told]
    )
    assert [value for _, value in scalars("gradledger/rate")] == [0.25] * 4
    assert "GL101" in text
    assert [finding.code for finding in ledger.findings] == ["GL101"]


def test_a_tracker_that_fails_does_not_hurt_the_training() -> None:
    class Full:
        def add_scalar(self, *_: Any) -> None:
            raise OSError("no space left on device")

        def add_text(self, *_: Any) -> None:
            pass

    model, optimizer = build()
    with to_tensorboard.watch(Full(), model, optimizer) as ledger:
        train(model, optimizer)
    answer = ledger.close()
    assert "the numbers end early: OSError: no space left" in answer.notes[0]
    assert [finding.code for finding in answer.findings] == ["GL101"]


def test_weights_and_biases_offline(recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import wandb

    from tests.integrations.wandb_file import items, records

    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    for name in ("live", "exported"):
        run = wandb.init(project="books", dir=str(tmp_path), id=name, settings=wandb.Settings(console="off"))
        if name == "live":
            with to_wandb.watch(run) as ledger:
                train(*build())
            assert ledger.close().notes == ()
        else:
            assert to_wandb.export(recording, run) == 4
        run.finish()
    wandb.teardown()  # the files are complete once the service has gone
    for name in ("live", "exported"):
        written = list(records(next(tmp_path.glob(f"wandb/offline-run-*/run-{name}.wandb"))))
        history = [items(record.history.item) for record in written if record.history.item]
        summary = {key: value for record in written for key, value in items(record.summary.update).items()}
        assert [row[STALE] for row in history if STALE in row] == [0, 2, 4, 6]
        assert [row["gradledger/step"] for row in history if STALE in row] == [1, 2, 3, 4]
        assert history[-1]["gradledger/findings/_type"] == "table-file"
        assert summary["gradledger/found"] == "GL101"
        assert summary["gradledger/failed"] is True


@pytest.mark.parametrize("live", [False, True])
def test_mlflow_in_a_folder(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, live: bool
) -> None:
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    import mlflow

    mlflow.set_tracking_uri((tmp_path / "mlruns").as_uri())
    mlflow.set_experiment("books")
    with mlflow.start_run() as run:
        if live:
            with to_mlflow.watch():
                train(*build())
        else:
            assert to_mlflow.export(recording) == 4
    client = mlflow.MlflowClient()
    history = client.get_metric_history(run.info.run_id, STALE)
    assert [(point.step, point.value) for point in history] == [(1, 0), (2, 2), (3, 4), (4, 6)]
    assert client.get_run(run.info.run_id).data.tags["gradledger.found"] == "GL101"
    text = Path(client.download_artifacts(run.info.run_id, "gradledger/findings.md")).read_text()
    assert "GL101" in text
    with pytest.raises(ValueError, match="no active MLflow run"):
        to_mlflow.watch()
