"""The story's numbers are PyTorch's: recomputed here without any probe."""

from __future__ import annotations

import math
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

from gradledger.cli.trace import PROGRAMS
from gradledger.ledger.details import TensorSeen
from gradledger.story.telling import tell
from gradledger.story.told import Stage, Story
from tests.traced import traced


def story_of(program: Callable[[], Any], tmp_path: Path, step: int = 2) -> tuple[Any, Story]:
    result, events = traced(program, tmp_path / "run.jsonl")
    return result, tell(events, step)


def stage(story: Story, kind: str, micro: int = 1) -> Stage:
    return next(s for s in story.stages if s.kind == kind and s.micro == micro)


def same(seen: TensorSeen, tensor: Tensor) -> bool:
    values = tensor.detach().reshape(-1)[: len(seen.values)].double().tolist()
    return seen.shape == tuple(tensor.shape) and list(seen.values) == pytest.approx(values)


def only(seen: tuple[TensorSeen, ...]) -> TensorSeen:
    (one,) = seen
    return one


def norm(params: Any) -> float:
    return math.sqrt(sum(float(p.grad.double().pow(2).sum()) for p in params if p.grad is not None))


def test_the_built_in_example(tmp_path: Path) -> None:
    names, story = story_of(lambda: runpy.run_path(str(PROGRAMS / "example.py")), tmp_path)

    # The same training written again, measured by hand.
    torch.manual_seed(7)
    features, direction = torch.randn(1000, 10), torch.randn(10)
    labels = (features @ direction + 0.9 * torch.randn(1000) > 0).long()
    loader = DataLoader(TensorDataset(features, labels), batch_size=20, shuffle=True)
    model = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.025, momentum=0.5)
    step = 0
    for row in story.epochs:
        losses, right, norms = [], 0, []
        for x, y in loader:
            out = model(x)
            loss = functional.cross_entropy(out, y)
            earlier = None if model[0].weight.grad is None else model[0].weight.grad.clone()
            optimizer.zero_grad()
            loss.backward()
            step += 1
            losses.append(loss.item())
            right += int((out.argmax(1) == y).sum())
            norms.append(norm(model.parameters()))
            if step == 2:
                hidden = model[0](x[0])
                assert [same(*pair) for pair in zip(stage(story, "data").gives, (x, y), strict=True)] == [
                    True,
                    True,
                ]
                assert same(stage(story, "forward").gives[0], out)
                assert stage(story, "loss").facts["loss"] == pytest.approx(loss.item())
                assert stage(story, "step").facts == pytest.approx({"norm": norms[-1], "rate": 0.025})
                assert [layer.kind for layer in story.layers] == ["Linear", "ReLU", "Linear"]
                assert same(story.layers[0].takes[0], x[0])
                assert same(story.layers[0].gives[0], hidden)
                assert same(story.layers[1].gives[0], hidden.relu())
                assert same(story.layers[2].gives[0], out[0])
                assert story.layers[0].gradient == pytest.approx(norm(model[0].parameters()))
                assert story.layers[1].gradient is None
                assert story.layers[2].gradient == pytest.approx(norm(model[2].parameters()))
                assert story.loss == pytest.approx(loss.item())
                assert stage(story, "backward").facts["starts from"] == pytest.approx(loss.item())
                assert earlier is not None
                assert same(only(stage(story, "zero").takes), earlier)
                assert stage(story, "zero").gives == ()
                assert same(only(stage(story, "backward").gives), model[0].weight.grad)
                weight, gradient = stage(story, "step").takes
                assert (weight.name, gradient.name) == ("0.weight", "0.weight.grad")
                assert same(weight, model[0].weight)
                assert same(gradient, model[0].weight.grad)
            optimizer.step()
            if step == 2:
                assert same(only(stage(story, "step").gives), model[0].weight)
        assert row.loss == pytest.approx(sum(losses) / 50)
        assert row.accuracy == pytest.approx(right / 1000)
        assert row.norm == pytest.approx(sum(norms) / 50)
        assert (row.updates, row.passes, row.rate) == (50, 50, 0.025)
    assert [row.label for row in story.epochs] == ["1", "2", "3", "4", "5"]
    assert all(map(torch.equal, names["model"].state_dict().values(), model.state_dict().values()))
    first, last = story.epochs[0], story.epochs[-1]
    assert 0.6 < first.loss < 0.7
    assert 0.18 < last.loss < 0.25
    assert 0.58 < first.accuracy < 0.68
    assert last.accuracy > 0.88


def windowed(measure: Callable[..., None] = lambda *_: None) -> None:
    """Accumulation over three micro-batches with clip and schedule, zeroing last."""
    torch.manual_seed(3)
    data = TensorDataset(torch.randn(36, 4), torch.randint(0, 3, (36,)))
    model = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    for epoch in range(2):
        for i, (x, y) in enumerate(DataLoader(data, batch_size=4), 1):
            out = model(x)
            loss = functional.cross_entropy(out, y)
            (loss / 3).backward()
            measure("pass", epoch, loss.item(), int((out.argmax(1) == y).sum()))
            if i % 3 == 0:
                before = norm(model.parameters())
                nn.utils.clip_grad_norm_(model.parameters(), 0.05)
                measure("step", epoch, before, norm(model.parameters()), optimizer.param_groups[0]["lr"])
                optimizer.step()
                schedule.step()
                optimizer.zero_grad()


def test_accumulation_with_clip_and_schedule(tmp_path: Path) -> None:
    passes: list[Any] = []
    steps: list[Any] = []

    def measure(kind: str, *numbers: float) -> None:
        (passes if kind == "pass" else steps).append(numbers)

    windowed(measure)
    _, story = story_of(windowed, tmp_path)
    micro = ["data", "forward", "loss", "backward"]
    assert [s.kind for s in story.stages] == [*micro * 3, "clip", "step", "schedule", "zero"]
    assert [s.micro for s in story.stages if s.kind == "backward"] == [1, 2, 3]
    assert [s.facts["loss"] for s in story.stages if s.kind == "loss"] == pytest.approx(
        [loss for _, loss, _ in passes[3:6]]
    )
    assert [s.facts["starts from"] for s in story.stages if s.kind == "backward"] == pytest.approx(
        [loss / 3 for _, loss, _ in passes[3:6]]
    )
    before, after, rate = steps[1][1:]
    clip = next(s for s in story.stages if s.kind == "clip")
    assert clip.facts == pytest.approx({"norm": before, "becomes": after})
    assert next(s for s in story.stages if s.kind == "step").facts == pytest.approx(
        {"norm": after, "rate": rate}
    )
    schedule = next(s for s in story.stages if s.kind == "schedule")
    assert schedule.facts == pytest.approx({"was": 0.05, "rate": 0.025})
    assert [s.after.text for s in story.stages if s.kind in ("backward", "clip", "step", "zero")] == [
        "fresh from micro-batch 4",
        "accumulated over 2 micro-batches (4 to 5)",
        "accumulated over 3 micro-batches (4 to 6)",
        "accumulated over 3 micro-batches (4 to 6), clipped",
        "stale (already applied)",
        "none",
    ]
    for epoch, row in enumerate(story.epochs):
        mine = [p for p in passes if p[0] == epoch]
        taken = [s for s in steps if s[0] == epoch]
        assert row.loss == pytest.approx(sum(loss for _, loss, _ in mine) / 9)
        assert row.accuracy == pytest.approx(sum(right for _, _, right in mine) / 36)
        assert row.norm == pytest.approx(sum(s[2] for s in taken) / 3)
        assert (row.updates, row.passes, row.rate) == (3, 9, pytest.approx(taken[-1][3]))
    assert len(story.epochs) == 2


def half_precision(measure: Callable[..., None] = lambda *_: None) -> None:
    """fp16 with a scaler and no loader, zeroing first; one batch overflows."""
    torch.manual_seed(5)
    inputs, targets = torch.randn(32, 4), torch.randn(32, 1)
    model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    scaler = torch.amp.GradScaler("cpu", init_scale=256.0, growth_interval=3)
    for epoch in range(2):
        for start in range(0, 32, 8):
            x, y = inputs[start : start + 8], targets[start : start + 8]
            optimizer.zero_grad()
            with torch.autocast("cpu", dtype=torch.float16):
                loss = functional.mse_loss(model(x), y)
            if (epoch, start) == (1, 8):
                loss = loss * float("inf")
            scaler.scale(loss).backward()
            layer = norm(model[0].parameters())
            scaler.unscale_(optimizer)
            measure(epoch, loss.item(), norm(model.parameters()), layer, scaler.get_scale())
            scaler.step(optimizer)
            scaler.update()


def test_half_precision_with_a_scaler(tmp_path: Path) -> None:
    seen: list[Any] = []
    half_precision(lambda *numbers: seen.append(numbers))
    _, story = story_of(half_precision, tmp_path)
    kinds = ["zero", "data", "forward", "loss", "scale", "backward", "unscale", "step", "update"]
    assert [s.kind for s in story.stages] == kinds
    assert stage(story, "forward").gives[0].dtype == "float16"
    assert stage(story, "scale").facts == {"scale": 256.0}
    _, loss, whole, layer, _ = seen[1]
    assert stage(story, "loss").facts["loss"] == pytest.approx(loss)
    assert stage(story, "step").facts == pytest.approx({"norm": whole, "rate": 0.05})
    assert story.layers[0].gradient == pytest.approx(layer)
    assert story.scale == 256.0
    assert stage(story, "backward").after.text == "fresh from micro-batch 2, times the scale"
    assert stage(story, "unscale").after.text == "fresh from micro-batch 2"
    first, second = story.epochs
    assert first.loss == pytest.approx(sum(s[1] for s in seen[:4]) / 4)
    assert first.norm == pytest.approx(sum(s[2] for s in seen[:4]) / 4)
    assert (first.updates, first.skipped, second.updates, second.skipped) == (4, 0, 3, 1)
    assert story.steps == 8
    (scales,) = (curve for name, curve in story.curves.items() if name.startswith("scale "))
    assert (scales.at, scales.values) == (tuple(range(1, 9)), tuple(s[4] for s in seen))
    assert "1 update skipped by the scaler" in second.observation
