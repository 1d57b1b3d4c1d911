"""What the closer probes tell is what the program had in its hands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

from gradledger.ledger import details as d
from gradledger.ledger import events as ev
from gradledger.runtime.detail.wanted import Wanted
from tests.traced import only, traced


def approx(tensor: Tensor) -> Any:
    return pytest.approx(tensor.detach().reshape(-1)[:6].tolist())


def test_shapes_and_values_of_a_step(tmp_path: Path) -> None:
    torch.manual_seed(0)
    x, y = torch.randn(4, 5), torch.tensor([0, 2, 1, 0])
    model = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def program() -> Any:
        for a, b in DataLoader(TensorDataset(x, y), batch_size=4):
            out = model(a)
            loss = nn.CrossEntropyLoss()(out, b)
            loss.backward()
            norms = [
                torch.cat([p.grad.reshape(-1) for p in layer.parameters()]).norm() for layer in model[::2]
            ]
            optimizer.step()
        return out, loss, norms

    hidden = model[0](x).detach()
    (out, loss, norms), events = traced(program, tmp_path / "run.jsonl")
    (batch,) = only(events, d.BatchTaken)
    assert [(t.shape, t.dtype) for t in batch.tensors] == [((4, 5), "float32"), ((4,), "int64")]
    assert batch.tensors[0].values == approx(x)
    assert batch.tensors[1].values == (0, 2, 1, 0)
    (forward,) = only(events, d.ForwardSeen)
    assert forward.outputs[0].values == approx(out)
    layers = only(events, d.LayerSeen)
    assert [(layer.module, layer.kind) for layer in layers] == [
        ("0", "Linear"),
        ("1", "ReLU"),
        ("2", "Linear"),
    ]
    assert layers[0].outputs[0].values == approx(hidden)
    assert layers[1].outputs[0].values == approx(hidden.relu())
    (criterion,) = only(events, d.CriterionCalled)
    assert (criterion.function, criterion.value) == ("cross_entropy", loss.item())
    (seen,) = only(events, d.LossSeen)
    assert (seen.value, seen.criterion, seen.samples) == (loss.item(), loss.item(), 4)
    (accuracy,) = only(events, d.AccuracySeen)
    assert (accuracy.value, accuracy.samples) == ((out.argmax(1) == y).float().mean().item(), 4)
    assert {g.module: g.norm for g in only(events, d.LayerGradientSeen)} == pytest.approx(
        {"0": norms[0].item(), "2": norms[1].item()}
    )
    (norm,) = only(events, d.NormSeen)
    assert norm.value == pytest.approx(torch.stack(norms).norm().item())
    assert [m.gradients for m in only(events, d.MemorySeen)] == [4 * (5 * 8 + 8 + 8 * 3 + 3)]


def test_details_stand_right_before_their_event(tmp_path: Path) -> None:
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)

    def program() -> None:
        model(torch.ones(1, 2)).sum().backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        optimizer.step()

    _, events = traced(program, tmp_path / "run.jsonl")
    kinds = [type(event) for event in events]
    told = {
        ev.BackwardRan: {d.MemorySeen, d.ParameterSeen},
        ev.GradientsClipped: {d.NormSeen, d.ParameterSeen},
        ev.OptimizerStepped: {d.NormSeen, d.RateSeen, d.ParameterSeen},
    }
    for kind, beside in told.items():
        at = kinds.index(kind)
        assert set(kinds[at - len(beside) : at]) == beside
    assert d.ParameterSeen in kinds[kinds.index(ev.OptimizerStepped) + 1 :]  # what the step came to


def test_norms_on_both_sides_of_a_clip(tmp_path: Path) -> None:
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)

    def program() -> float:
        model(torch.ones(1, 2)).sum().backward()
        found = nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        optimizer.step()
        return float(found)

    found, events = traced(program, tmp_path / "run.jsonl")
    clip, step = only(events, d.NormSeen)
    assert clip.before_clip == pytest.approx(found)
    assert clip.value == step.value == pytest.approx(0.1, rel=1e-4)
    assert step.before_clip is None


def test_a_layers_gradient_is_what_the_pass_itself_brought(tmp_path: Path) -> None:
    model = nn.Linear(2, 1, bias=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)

    def program() -> None:
        for factor in (3.0, 4.0):
            (model(torch.tensor([[1.0, 0.0]])).sum() * factor).backward()
        optimizer.step()

    _, events = traced(program, tmp_path / "run.jsonl")
    assert [g.norm for g in only(events, d.LayerGradientSeen)] == [3.0, 4.0]


def test_values_are_told_only_around_the_wanted_steps_and_curves_always(tmp_path: Path) -> None:
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    steps: list[int] = []

    def program() -> None:
        for _ in range(6):
            optimizer.zero_grad()
            model(torch.ones(1, 2)).sum().backward()
            optimizer.step()

    _, events = traced(program, tmp_path / "run.jsonl", Wanted((4,)))
    for event in events:
        if isinstance(event, d.ForwardSeen):
            steps.append(1 + len(only(events[: events.index(event)], ev.OptimizerStepped)))
    assert set(steps) <= {4, 5}
    assert 4 in steps
    assert len(only(events, d.LossSeen)) == len(only(events, d.NormSeen)) == 6


@pytest.mark.parametrize(
    ("function", "output", "target", "right"),
    [
        ("cross_entropy", [[2.0, 1.0], [0.0, 1.0]], [0, 0], (0.5, 2)),
        ("cross_entropy", [[2.0, 1.0], [0.0, 1.0]], [0, -100], (1.0, 1)),
        ("cross_entropy", [[2.0, 1.0], [0.0, 1.0]], [[0.5, 0.5], [0.0, 1.0]], None),
        ("binary_cross_entropy_with_logits", [2.0, -1.0, -0.5], [1.0, 0.0, 1.0], (2 / 3, 3)),
        ("binary_cross_entropy_with_logits", [2.0, -1.0], [0.9, 0.1], None),
        ("binary_cross_entropy", [0.9, 0.2], [1.0, 0.0], (1.0, 2)),
        ("mse_loss", [0.9, 0.2], [1.0, 0.0], None),
    ],
)
def test_accuracy_is_told_where_the_task_has_one(
    function: str, output: Any, target: Any, right: Any, tmp_path: Path
) -> None:
    weights = nn.Parameter(torch.tensor(output))

    def program() -> None:
        getattr(functional, function)(weights * 1.0, torch.tensor(target)).backward()

    _, events = traced(program, tmp_path / "run.jsonl")
    found = [(a.value, a.samples) for a in only(events, d.AccuracySeen)]
    assert found == ([] if right is None else [pytest.approx(right)])


def test_an_evaluation_counts_for_nothing(tmp_path: Path) -> None:
    model = nn.Linear(2, 2)
    x, y = torch.ones(4, 2), torch.zeros(4, dtype=torch.long)

    def program() -> None:
        with torch.no_grad():
            functional.cross_entropy(model(x), y)
        functional.cross_entropy(model(x), 1 - y)  # never differentiated
        functional.cross_entropy(model(x[:2]), y[:2]).backward()

    _, events = traced(program, tmp_path / "run.jsonl")
    assert [a.samples for a in only(events, d.AccuracySeen)] == [2]


def test_rate_and_scale_are_told_when_they_change(tmp_path: Path) -> None:
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)

    def program() -> None:
        for _ in range(4):
            scaler.scale(model(torch.ones(1, 2)).sum()).backward()
            scaler.step(optimizer)
            scaler.update()
            schedule.step()

    _, events = traced(program, tmp_path / "run.jsonl")
    assert [r.value for r in only(events, d.RateSeen)] == pytest.approx([1.0, 0.1, 0.01])
    assert [s.value for s in only(events, d.ScaleSeen)] == [8.0, 16.0, 32.0]


def test_the_loss_is_told_as_the_user_wrote_it(tmp_path: Path) -> None:
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    scaler = torch.amp.GradScaler("cpu", init_scale=64.0)

    def program() -> float:
        loss = functional.mse_loss(model(torch.ones(3, 2)), torch.zeros(3, 1))
        scaler.scale(loss / 4).backward()
        scaler.step(optimizer)
        return loss.item()

    loss, events = traced(program, tmp_path / "run.jsonl")
    (seen,) = only(events, d.LossSeen)
    assert (seen.value, seen.criterion, seen.samples) == (pytest.approx(loss / 4), pytest.approx(loss), 3)


def metric_after(loader: Any, epochs: int = 3) -> None:
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(epochs):
        for x in loader:
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
        score = epoch * 10.0  # noqa: F841


@pytest.mark.parametrize("plain", [False, True], ids=["loader", "plain"])
def test_a_metric_is_read_as_each_epoch_left_it(plain: bool, tmp_path: Path) -> None:
    data = torch.ones(4, 2)
    source = data.split(2) if plain else DataLoader(data, batch_size=2)
    wanted = Wanted((1,), metric="score")
    _, events = traced(lambda: metric_after(source), tmp_path / "run.jsonl", wanted)
    assert [(m.name, m.value) for m in only(events, d.MetricSeen)] == [
        ("score", 0),
        ("score", 10),
        ("score", 20),
    ]
