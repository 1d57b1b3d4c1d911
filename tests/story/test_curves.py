"""Curves of real recordings: a value for every pass or step, also of what is told only when it changes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from gradledger.report.replay.retelling import retold
from gradledger.story.curve import MOST, Series
from gradledger.story.telling import tell
from gradledger.story.told import plain
from tests.traced import traced


def test_a_curve_is_bounded_and_keeps_its_extremes() -> None:
    series = Series()
    for number in range(50_000):
        series.add(number, 100.0 if number == 31_337 else float(number % 7))
    series.add(50_000, float("nan"))
    curve = series.curve()
    assert len(curve.at) <= MOST
    assert (max(curve.highs), min(curve.lows), curve.broken) == (100.0, 0.0, 1)
    assert sum(point[4] for point in series.points) == 50_000
    assert sum(point[1] * point[4] for point in series.points) == pytest.approx(
        sum(n % 7 for n in range(50_000)) + 100 - 31_337 % 7
    )


def scheduled(measure: Callable[..., None] = lambda *_: None) -> None:
    """Windows of three, two optimizers of which one has a schedule, a scaler whose scale grows, a clip."""
    torch.manual_seed(3)
    body, head = nn.Linear(4, 8), nn.Linear(8, 2)
    slow = torch.optim.SGD(body.parameters(), lr=0.1)
    quick = torch.optim.Adam(head.parameters(), lr=0.01)
    scheduler = torch.optim.lr_scheduler.StepLR(slow, 2, gamma=0.5)
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)
    inputs, targets = torch.randn(60, 4), torch.randint(0, 2, (60,))
    parameters = [*body.parameters(), *head.parameters()]
    for turn in range(15):
        x, y = inputs[4 * turn : 4 * turn + 4], targets[4 * turn : 4 * turn + 4]
        loss = nn.functional.cross_entropy(head(body(x).relu()), y)
        scale = scaler.get_scale()
        scaler.scale(loss / 3).backward()
        held = sum(p.grad.numel() * p.grad.element_size() for p in parameters if p.grad is not None)
        measure("pass", turn + 1, loss.item(), scale, held)
        if (turn + 1) % 3 == 0:
            scaler.unscale_(slow)
            scaler.unscale_(quick)
            before = nn.utils.clip_grad_norm_(body.parameters(), 0.05)
            measure("clip", turn + 1, before.item())
            for optimizer in (slow, quick):
                norm = torch.stack(
                    [p.grad.norm() for g in optimizer.param_groups for p in g["params"]]
                ).norm()
                measure(type(optimizer).__name__, turn + 1, optimizer.param_groups[0]["lr"], norm.item())
                scaler.step(optimizer)
            scaler.update()
            scheduler.step()
            slow.zero_grad()
            quick.zero_grad()


def test_every_pass_and_step_has_its_value(tmp_path: Path) -> None:
    seen: dict[str, list[Any]] = {}
    scheduled(lambda kind, *numbers: seen.setdefault(kind, []).append(numbers))
    _, events = traced(scheduled, tmp_path / "run.jsonl")
    curves = tell(events).curves
    passes, steps, quick = seen["pass"], seen["SGD"], seen["Adam"]
    (scale,) = (curve for name, curve in curves.items() if name.startswith("scale "))

    def told(name: str) -> list[tuple[int, float]]:
        return list(zip(curves[name].at, curves[name].values, strict=True))

    assert told("loss") == [(at, pytest.approx(loss)) for at, loss, _, _ in passes]
    assert list(scale.values) == [scale for _, _, scale, _ in passes]
    assert len(set(scale.values)) > 1
    assert told("memory") == [(at, held) for at, _, _, held in passes]
    # The first pass of each window follows a clearing: the gradients had given their memory back.
    assert curves["memory"].lows == tuple(0 if at % 3 == 1 and at > 1 else held for at, _, _, held in passes)
    assert told("rate 1") == [(at, rate) for at, rate, _ in steps]
    assert [rate for _, rate in told("rate 1")] == [0.1, 0.1, 0.05, 0.05, 0.025]
    assert told("rate 2") == [(at, 0.01) for at, _, _ in quick]
    assert told("norm 1") == [(at, pytest.approx(norm)) for at, _, norm in steps]
    assert told("norm 2") == [(at, pytest.approx(norm)) for at, _, norm in quick]
    assert told("norm before clip") == [(at, pytest.approx(norm)) for at, norm in seen["clip"]]


def test_the_page_tells_the_same_story(tmp_path: Path) -> None:
    _, events = traced(scheduled, tmp_path / "run.jsonl")
    again = retold(str(tmp_path / "run.jsonl"), str(tmp_path))
    assert json.dumps(plain(again.story)) == json.dumps(plain(tell(events)))
    assert again.detailed
