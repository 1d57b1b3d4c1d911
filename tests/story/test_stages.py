"""The stages are shown as this program does them, with the gradients as the ledger knows them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader

import gradledger
from gradledger.report.stage_facts import chosen
from gradledger.story.telling import tell
from gradledger.story.told import Story, plain
from tests.traced import traced


def parts() -> tuple[nn.Module, torch.optim.Optimizer, Any]:
    torch.manual_seed(0)
    model = nn.Linear(2, 1)
    return model, torch.optim.SGD(model.parameters(), lr=0.01), DataLoader(torch.randn(12, 2), batch_size=4)


def zero_first() -> None:
    model, optimizer, loader = parts()
    for x in loader:
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()


def zero_before_backward() -> None:
    model, optimizer, loader = parts()
    for x in loader:
        loss = nn.functional.mse_loss(model(x), torch.zeros(4, 1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def zero_last() -> None:
    model, optimizer, loader = parts()
    for x in loader:
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)


def zero_never() -> None:
    model, optimizer, loader = parts()
    for x in loader:
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()


def zero_after_backward() -> None:
    model, optimizer, loader = parts()
    for x in loader:
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.zero_grad()
        optimizer.step()


def without_loader() -> None:
    model, optimizer, _ = parts()
    for _ in range(3):
        optimizer.zero_grad()
        loss = model(torch.ones(4, 2)).pow(2).mean()
        loss.backward()
        optimizer.step()


def on_one_line() -> None:
    weight = nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([weight], lr=0.01)
    for epoch in range(3):
        loss = weight.pow(2).mean() + epoch
        optimizer.zero_grad(); loss.backward(); optimizer.step()  # noqa: E702  # fmt: skip


def through_functions() -> None:
    model, optimizer, loader = parts()

    def lost(x: Tensor) -> Tensor:
        return model(x).pow(2).mean()

    def learn(x: Tensor) -> None:
        lost(x).backward()
        optimizer.step()

    for x in loader:
        learn(x)
        optimizer.zero_grad()


def story_of(program: Callable[[], None], tmp_path: Path, step: int = 2) -> Story:
    _, events = traced(program, tmp_path / "run.jsonl")
    return tell(events, step)


STALE = "stale (already applied)"
FRESH = "fresh from micro-batch 2"


@pytest.mark.parametrize(
    ("program", "kinds", "changes"),
    [
        (
            zero_first,
            "data zero forward loss backward step",
            [(STALE, "none"), ("none", FRESH), (FRESH, STALE)],
        ),
        (
            zero_before_backward,
            "data forward loss zero backward step",
            [(STALE, "none"), ("none", FRESH), (FRESH, STALE)],
        ),
        (
            zero_last,
            "data forward loss backward step zero",
            [("zero", FRESH), (FRESH, STALE), (STALE, "zero")],
        ),
        (
            zero_never,
            "data forward loss backward step",
            [(STALE, f"{FRESH}, on top of stale ones"), (f"{FRESH}, on top of stale ones", STALE)],
        ),
        (zero_after_backward, "data forward loss backward zero step", [("none", FRESH), (FRESH, "none")]),
        (
            without_loader,
            "zero data forward loss backward step",
            [(STALE, "none"), ("none", FRESH), (FRESH, STALE)],
        ),
        (on_one_line, "loss zero backward step", [(STALE, "none"), ("none", FRESH), (FRESH, STALE)]),
        (
            through_functions,
            "data forward loss backward step zero",
            [("none", FRESH), (FRESH, STALE), (STALE, "none")],
        ),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_stages_stand_in_the_programs_order(
    program: Callable[[], None], kinds: str, changes: list[tuple[str, str]], tmp_path: Path
) -> None:
    story = story_of(program, tmp_path)
    assert [stage.kind for stage in story.stages] == kinds.split()
    seen = [(s.before.text, s.after.text) for s in story.stages if s.before != s.after]
    assert seen == changes
    first = program.__code__.co_firstlineno
    assert all(s.path == __file__ and first < s.line < first + 20 for s in story.stages)


def test_the_first_step_can_be_shown(tmp_path: Path) -> None:
    story = story_of(zero_first, tmp_path, step=1)
    assert story.step == 1
    assert [(s.kind, s.before.text, s.after.text) for s in story.stages][1] == ("zero", "none", "none")


def test_a_step_that_never_came_is_replaced_by_the_first(tmp_path: Path) -> None:
    story = story_of(zero_first, tmp_path, step=99)
    assert (story.step, story.steps) == (1, 3)
    assert story.stages


@pytest.mark.parametrize("loaded", [True, False])
def test_two_optimizers_in_one_turn_are_shown_together(tmp_path: Path, *, loaded: bool) -> None:
    def adversaries() -> None:
        torch.manual_seed(0)
        maker, judge = nn.Linear(2, 2), nn.Linear(2, 1)
        first = torch.optim.SGD(judge.parameters(), lr=0.01)
        second = torch.optim.SGD(maker.parameters(), lr=0.01)
        data = torch.randn(12, 2)
        for x in DataLoader(data, batch_size=4) if loaded else data.split(4):
            first.zero_grad()
            (judge(x) - judge(maker(x).detach())).mean().backward()
            first.step()
            second.zero_grad()
            judge(maker(x)).mean().backward()
            second.step()

    story = story_of(adversaries, tmp_path)
    assert [s.kind for s in story.stages if s.kind in ("zero", "backward", "step")] == [
        *["zero", "backward", "step"],
        *["zero", "backward", "step"],
    ]
    lines = [s.line for s in story.stages if s.kind != "data"]
    assert lines == sorted(lines)
    assert story.layers
    mixed = next(stage.before for stage in story.stages if stage.before.parts)
    assert [part.text.partition(":")[0] for part in mixed.parts] == ["SGD 1", "SGD 2"]
    assert mixed.text == "; ".join(part.text for part in mixed.parts)


def test_an_evaluations_batches_are_no_part_of_a_step(tmp_path: Path) -> None:
    def evaluated() -> None:
        model, optimizer, loader = parts()
        for _ in range(2):
            for x in DataLoader(torch.randn(4, 2), batch_size=4):
                optimizer.zero_grad()
                model(x).pow(2).mean().backward()
                optimizer.step()
            with torch.no_grad():
                for x in loader:
                    model(x)

    story = story_of(evaluated, tmp_path)
    assert [s.kind for s in story.stages] == ["data", "zero", "forward", "loss", "backward", "step"]
    assert [row.passes for row in story.epochs] == [1, 1]


def test_a_story_is_plain_data(tmp_path: Path) -> None:
    story = story_of(zero_first, tmp_path)
    told = json.loads(json.dumps(plain(story)))
    assert told["stages"][0]["gives"][0]["shape"] == [4, 2]
    assert told["epochs"][0]["updates"] == 3
    assert told["curves"]["loss"]["at"] == [1, 2, 3]


def test_nothing_recorded_is_an_empty_story() -> None:
    story = tell([])
    assert (story.step, story.steps, story.passes, story.stages, story.epochs) == (0, 0, 0, (), ())


def test_an_accumulators_passes_are_told(tmp_path: Path) -> None:
    losses: list[float] = []

    def accumulated() -> None:
        model, optimizer, loader = parts()
        acc = gradledger.Accumulator(model, optimizer, every=3)
        for _ in range(2):
            for x in acc.batches(loader):
                loss = nn.functional.mse_loss(model(x), torch.zeros(4, 1))
                losses.append(loss.item())
                acc.backward(loss, count=4)

    story = story_of(accumulated, tmp_path)
    assert [s.kind for s in story.stages if s.kind in ("data", "loss", "backward")] == [
        "data",
        "loss",
        "backward",
    ] * 3
    assert [s.kind for s in story.stages][-2:] == ["step", "zero"]
    assert [row.loss for row in story.epochs] == pytest.approx([sum(losses[:3]) / 3, sum(losses[3:]) / 3])
    assert [row.updates for row in story.epochs] == [1, 1]


def test_what_one_line_does_again_and_again_is_shown_in_part(tmp_path: Path) -> None:
    def program() -> None:
        model, optimizer, _ = parts()
        for _ in range(3):
            total = torch.zeros(())
            for _ in range(9):
                total = total + model(torch.ones(2)).sum()
            optimizer.zero_grad()
            total.backward()
            optimizer.step()

    story = story_of(program, tmp_path)
    shown = list(chosen(story.stages))
    assert sum(stage.kind == "forward" for stage in story.stages) == 9
    assert [item if isinstance(item, str) else item[1].kind for item in shown] == [
        *("data", "forward", "forward", "forward 6 more times likewise", "forward"),
        *("loss", "zero", "backward", "step"),
    ]
    # An input of one dimension that becomes another length is one sample, not a batch of scalars.
    assert story.layers[0].takes[0].shape == (2,)
    assert story.layers[0].takes[0].values == (1.0, 1.0)


def test_old_gradients_of_one_group_beside_new_ones_of_another_are_no_mixture(tmp_path: Path) -> None:
    def program() -> None:
        first, second = nn.Linear(2, 1), nn.Linear(2, 1)
        one = torch.optim.SGD(first.parameters(), lr=0.01)
        other = torch.optim.SGD(second.parameters(), lr=0.01)
        for _ in range(3):
            for model, optimizer in ((first, one), (second, other)):
                optimizer.zero_grad()
                model(torch.ones(4, 2)).mean().backward()
                optimizer.step()

    passes = [stage for stage in story_of(program, tmp_path).stages if stage.kind == "backward"]
    assert "stale" in passes[0].after.text
    assert "fresh" in passes[0].after.text
    assert not any(stage.after.stale for stage in passes)


def test_a_loss_by_hand_stands_where_it_was_written(tmp_path: Path) -> None:
    model, optimizer, loader = parts()
    scaler = torch.amp.GradScaler("cpu", init_scale=4.0)

    def program() -> None:
        for x in loader:
            loss = model(x).pow(2).mean()
            optimizer.zero_grad()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()

    stages = story_of(program, tmp_path).stages
    assert [stage.kind for stage in stages[:6]] == ["data", "forward", "loss", "zero", "scale", "backward"]
    loss, zero = stages[2:4]
    assert loss.line == program.__code__.co_firstlineno + 2
    assert (loss.before.text, loss.after.text) == (STALE, STALE)
    assert (zero.before.text, zero.after.text) == (STALE, "none")


def test_a_loss_by_hand_after_clearing_follows_it(tmp_path: Path) -> None:
    story = story_of(zero_first, tmp_path)
    first = zero_first.__code__.co_firstlineno
    lines = [(stage.kind, stage.line - first) for stage in story.stages if stage.line]
    assert lines == [("data", 2), ("zero", 3), ("forward", 4), ("loss", 4), ("backward", 5), ("step", 6)]


def test_a_step_with_a_closure_shows_what_it_did(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = nn.Linear(2, 1)
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=3)
    x, y = torch.randn(8, 2), torch.randn(8, 1)
    weights = []

    def closure() -> Tensor:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        return loss

    def program() -> None:
        for _ in range(3):
            weights.append(model.weight.detach().flatten().tolist())
            optimizer.step(closure)

    stages = story_of(program, tmp_path).stages
    assert [stage.kind for stage in stages[:5]] == ["zero", "data", "forward", "loss", "backward"]
    assert stages[-1].kind == "step"
    took, gradient = stages[-1].takes
    (gave,) = stages[-1].gives
    assert (took.name, gradient.name, gave.name) == ("weight", "weight.grad", "weight")
    assert list(took.values) == pytest.approx(weights[1])
    assert list(gave.values) == pytest.approx(weights[2])
