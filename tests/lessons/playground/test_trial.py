"""A trial tells the truth: the rules that speak, the arithmetic of the right loop, the errors of torch."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from torch import nn

from gradledger.ledger.record import replace
from gradledger.lessons.playground.presets import PRESETS, Preset
from gradledger.lessons.playground.program import program, sizes
from gradledger.lessons.playground.reference import right
from gradledger.lessons.playground.running import run, weights
from gradledger.lessons.playground.setup import Setup, lanes
from gradledger.lessons.playground.trial import trial

RIGHT = PRESETS[0].setup


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_a_preset_gives_its_rule_on_a_block_and_a_distance(preset: Preset) -> None:
    result = trial(preset.setup)
    assert [finding["code"] for finding in result["findings"]] == list(preset.codes)
    assert result["error"] is None
    if preset.codes:
        finding = result["findings"][0]
        lane, at = finding["block"]
        assert preset.setup.lane(lane)[at]
        assert result["program"].splitlines()[finding["line"] - 1].strip()
        assert finding["code"] in finding["card"]
        assert result["distance"] > 1e-3
        assert result["verdict"]["kind"] in ("error", "warning")
    else:
        assert result["distance"] == 0
        assert result["verdict"]["headline"] == "The books balance"
    ledger = result["ledger"]
    assert ledger["timeline"]["count"] == preset.setup.batches * preset.setup.epochs * (
        1 + preset.setup.second
    )
    assert any(name.startswith("norm") for name in ledger["curves"]["series"])


def reference(setup: Setup) -> torch.Tensor:
    """Large batches in double precision: the mean over all samples of a window, one update each."""
    torch.manual_seed(0)
    of = sizes(setup)
    inputs = torch.randn(sum(of), 4)
    targets = inputs.sin().sum(1, keepdim=True).double()
    model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1)).double()
    kinds = {
        "sgd": lambda p: torch.optim.SGD(p, lr=0.1),
        "momentum": lambda p: torch.optim.SGD(p, lr=0.02, momentum=0.9),
        "adam": lambda p: torch.optim.Adam(p, lr=0.02),
        "adamw": lambda p: torch.optim.AdamW(p, lr=0.02),
    }
    optimizer = kinds[setup.optimizer](model.parameters())
    rate = optimizer.param_groups[0]["lr"]
    edges = [sum(of[: i * setup.every]) for i in range(-(-len(of) // setup.every))] + [sum(of)]
    for epoch in range(setup.epochs):
        for number, (begin, end) in enumerate(pairwise(edges)):
            if "schedule" in setup.used:
                optimizer.param_groups[0]["lr"] = rate * 0.8 ** (epoch * (len(edges) - 1) + number)
            x, y = inputs[begin:end].double(), targets[begin:end]
            gradients = torch.autograd.grad((model(x) - y).square().mean(), list(model.parameters()))
            norm = torch.cat([g.flatten() for g in gradients]).norm()
            shrink = min(1.0, 1.0 / (norm.item() + 1e-6)) if "clip" in setup.used else 1.0
            for parameter, gradient in zip(model.parameters(), gradients, strict=True):
                parameter.grad = gradient * shrink
            optimizer.step()
    return torch.cat([p.detach().flatten() for p in model.parameters()])


def ended(setup: Setup, folder: Path) -> torch.Tensor:
    path = folder / "train.py"
    path.write_text(program(setup).text, encoding="utf-8")
    ran = run(path)
    assert ran.error is None
    return weights(ran.names)


def apart(one: torch.Tensor, other: torch.Tensor) -> float:
    return ((one - other).norm() / other.norm()).item()


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"every": 1},
        {"sizes": "uneven"},
        {"batches": 10},
        {"batches": 11, "sizes": "uneven", "every": 3},
        {"optimizer": "momentum"},
        {"optimizer": "adam"},
        {"optimizer": "adamw", "set_to_none": False},
        {"lanes": lanes(window_end="clip")},
        {"lanes": lanes(window_end="schedule")},
        {"lanes": lanes(batch="clip schedule"), "sizes": "uneven", "batches": 9},
    ],
    ids=str,
)
def test_the_right_loop_is_the_large_batch(change: dict, tmp_path: Path) -> None:
    setup = right(replace(RIGHT, **change))
    assert apart(ended(setup, tmp_path), reference(setup)) < 2e-5


def test_the_right_loop_in_fp16_is_the_large_batch_up_to_fp16(tmp_path: Path) -> None:
    setup = right(replace(RIGHT, amp=True, lanes=lanes(batch="clip")))
    assert apart(ended(setup, tmp_path), reference(setup)) < 5e-3


def test_the_right_pair_is_two_updates_by_hand(tmp_path: Path) -> None:
    setup = right(Setup(lanes(), every=1, second=True))
    torch.manual_seed(0)
    of = sizes(setup)
    real, noise = 0.5 * torch.randn(sum(of), 2) + 2, torch.randn(sum(of), 2)
    maker = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2)).double()
    judge = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1)).double()
    loss = nn.BCEWithLogitsLoss()

    def descend(model: nn.Module, value: torch.Tensor) -> None:
        gradients = torch.autograd.grad(value, list(model.parameters()))
        with torch.no_grad():
            for parameter, gradient in zip(model.parameters(), gradients, strict=True):
                parameter -= 0.1 * gradient

    for _ in range(setup.epochs):
        for x, z in zip(real.double().split(of), noise.double().split(of), strict=True):
            ones, zeros = torch.ones(len(x), 1).double(), torch.zeros(len(x), 1).double()
            fake = maker(z).detach()
            descend(judge, loss(judge(x), ones) + loss(judge(fake), zeros))
            descend(maker, loss(judge(maker(z)), ones))
    best = torch.cat([p.detach().flatten() for model in (judge, maker) for p in model.parameters()])
    assert apart(ended(setup, tmp_path), best) < 2e-5


@pytest.mark.parametrize(
    ("setup", "kind", "line", "words"),
    [
        (
            Setup(lanes(batch="loss forward backward")),
            "NameError",
            "loss = loss_fn(prediction, y)",
            "Put forward above",
        ),
        (Setup(lanes(batch="backward forward loss")), "NameError", "loss.backward()", "Put loss above"),
        (Setup(lanes(epoch_start="forward")), "NameError", "prediction = model(x)", "outside the loop"),
        (
            Setup(lanes(epoch_start="loss_d"), every=1, second=True),
            "NameError",
            "loss_d = loss_fn(discriminator(x), ones) + loss_fn(discriminator(fake.detach()), zeros)",
            "outside the loop",
        ),
        (
            Setup(lanes(batch="forward loss backward backward")),
            "RuntimeError",
            "loss.backward()",
            "its own forward",
        ),
        (
            Setup(lanes(batch="forward loss step backward")),
            "RuntimeError",
            "loss.backward()",
            "changed the weights between",
        ),
        (
            Setup(lanes(batch="forward loss scale backward unscale unscale"), amp=True),
            "RuntimeError",
            "scaler.unscale_(optimizer)",
            "once between two updates",
        ),
        (
            Setup(lanes(batch="forward loss backward scaled_step"), amp=True),
            "AssertionError",
            "scaler.step(optimizer)",
            "Put scale before backward",
        ),
        (
            Setup(lanes(batch="forward loss scale backward scaled_step scaled_step"), amp=True),
            "RuntimeError",
            "scaler.step(optimizer)",
            "scaler.update after",
        ),
        (
            Setup(lanes(batch="forward loss_d loss_g backward_d step_d backward_g"), every=1, second=True),
            "RuntimeError",
            "loss_g.backward()",
            "changed the weights between",
        ),
    ],
)
def test_a_loop_that_cannot_run_is_explained(setup: Setup, kind: str, line: str, words: str) -> None:
    result = trial(setup)
    assert result["error"]["kind"] == kind
    assert words in result["error"]["words"]
    assert result["program"].splitlines()[result["error"]["line"] - 1].strip() == line
    assert result["verdict"]["headline"] == "PyTorch stops here"
    assert words in result["verdict"]["below"]
    assert result["distance"] is None


@pytest.mark.parametrize(
    ("setup", "unit"),
    [
        (RIGHT, "micro-batch"),
        (PRESETS[-1].setup, "batch"),  # two passes in a batch
        (
            replace(RIGHT, lanes=lanes(batch="forward loss backward backward", window_end="step zero")),
            "batch",
        ),
    ],
    ids=["right", "two losses", "stops"],
)
def test_curves_are_drawn_over_the_batches_of_both_loops(setup: Setup, unit: str) -> None:
    drawn = trial(setup)["ledger"]["curves"]
    assert (drawn["end"], drawn["unit"]) == (setup.batches * setup.epochs, unit)
    assert drawn["epochs"] == [setup.batches]
    ends = {name: row["points"][-1][0] for name, row in drawn["series"].items() if row["points"]}
    assert ends["loss the right loop"] == drawn["end"]
    assert max(ends.values()) <= drawn["end"]


def test_what_no_rule_speaks_of_is_still_told() -> None:
    result = trial(replace(RIGHT, batches=10))
    assert result["findings"] == []
    assert result["distance"] > 1e-3
    assert result["verdict"]["headline"] == "No rule speaks, but the weights differ"
    assert "divided by N all the same" in result["verdict"]["below"]
    weighed = trial(replace(RIGHT, batches=10, lanes=right(replace(RIGHT, batches=10)).lanes))
    assert weighed["verdict"]["headline"] == "The books balance"


def test_weights_that_overflow_are_no_number_anywhere() -> None:
    bypassed = Setup(lanes(batch="forward loss divide scale backward", window_end="step zero"), amp=True)
    result = trial(bypassed)
    assert "GL302" in [finding["code"] for finding in result["findings"]]
    assert result["distance"] is None
    json.dumps(result, allow_nan=False)


def test_an_empty_loop_trains_nothing() -> None:
    result = trial(Setup(lanes()))
    assert result["verdict"]["headline"] == "Nothing was trained"
    assert result["updates"] == {"mine": 0, "right": 6}
