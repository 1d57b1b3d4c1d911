"""The life of a gradient scaler: scaled losses, unscaled gradients, steps made, skipped and refused."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from gradledger.ledger import events as ev
from tests.watched import watched


def here() -> int:
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno


def setting(**options: Any) -> tuple[nn.Module, torch.optim.Optimizer, torch.amp.GradScaler]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    return model, optimizer, torch.amp.GradScaler("cpu", **({"init_scale": 8.0} | options))


def loss_of(model: nn.Module) -> Tensor:
    return model(torch.randn(5, 3)).square().mean()


def test_the_whole_cycle() -> None:
    with watched() as watch:
        model, optimizer, scaler = setting()
        for _ in range(4):
            optimizer.zero_grad()
            scaler.scale(loss_of(model)).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            assert watch.count(model[0].weight) == [(1, 0)]
            scaler.step(optimizer)
            line = here() - 1
            scaler.update()
            assert watch.count(model[0].weight) == [(0, 1)]
    assert watch.ledger.findings == ()
    scaler_number = watch.events(ev.ScalerBuilt)[0].scaler
    for kind in (ev.LossScaled, ev.GradientsUnscaled, ev.ScalerStepped, ev.ScalerUpdated):
        assert [event.scaler for event in watch.events(kind)] == [scaler_number] * 4
    steps = watch.events(ev.OptimizerStepped)
    assert [(step.scaler, step.site.line) for step in steps] == [(scaler_number, line)] * 4
    assert [ran.scaled_by for ran in watch.events(ev.BackwardRan)] == [scaler_number] * 4
    assert not watch.events(ev.GradientChanged)


SCALED: dict[str, Callable[[torch.amp.GradScaler, Tensor], Any]] = {
    "at once": lambda s, loss: s.scale(loss).backward(),
    "divided afterwards": lambda s, loss: (s.scale(loss) / 2).backward(),
    "one of a list": lambda s, loss: s.scale([loss, loss.detach()])[0].backward(),
    "torch.autograd.backward": lambda s, loss: torch.autograd.backward(s.scale(loss)),
    "summed with another": lambda s, loss: (s.scale(loss) + s.scale(loss * 0)).backward(),
}


@pytest.mark.parametrize("backward", SCALED.values(), ids=SCALED)
def test_a_scaled_loss_is_recognised(backward: Callable[[torch.amp.GradScaler, Tensor], Any]) -> None:
    model, optimizer, scaler = setting()
    with watched(model, optimizer) as watch:
        for _ in range(4):
            optimizer.zero_grad()
            backward(scaler, loss_of(model))
            scaler.step(optimizer)
            scaler.update()
    assert watch.certain == []
    assert all(ran.scaled_by is not None for ran in watch.events(ev.BackwardRan))


def test_an_unscaled_loss_is_told_apart() -> None:
    model, optimizer, scaler = setting()
    with watched(model, optimizer) as watch:
        scaler.scale(loss_of(model)).backward()
        loss_of(model).backward()
    assert [ran.scaled_by is None for ran in watch.events(ev.BackwardRan)] == [False, True]


def test_a_skipped_step_is_no_step() -> None:
    model, optimizer, scaler = setting()
    with watched(model, optimizer) as watch:
        for turn in range(6):
            optimizer.zero_grad()
            loss = loss_of(model) * (float("inf") if turn in (2, 3) else 1.0)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            line = here() - 1
            scaler.update()
    assert watch.ledger.findings == ()
    assert (watch.books.steps, len(watch.events(ev.StepSkipped))) == (4, 2)
    assert set(watch.lines(ev.StepSkipped)) == {line}
    assert watch.events(ev.StepSkipped)[0].optimizer == watch.events(ev.OptimizerStepped)[0].optimizer
    assert scaler.get_scale() == 2.0


def test_gradients_of_a_skipped_step_that_nobody_clears() -> None:
    model, optimizer, scaler = setting()
    with watched(model, optimizer) as watch:
        for turn in range(6):
            loss = loss_of(model) * (float("inf") if turn == 0 else 1.0)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            if turn:
                optimizer.zero_grad()
    assert len(watch.events(ev.StepSkipped)) == 2  # the second because of what the first left behind


@pytest.mark.parametrize("fused", [True, False])
def test_optimizers_that_unscale_themselves(fused: bool) -> None:
    model, _, scaler = setting()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, fused=fused)
    with watched(model, optimizer) as watch:
        for _ in range(4):
            optimizer.zero_grad()
            scaler.scale(loss_of(model)).backward()
            scaler.step(optimizer)
            scaler.update()
    assert watch.ledger.findings == ()
    assert watch.books.steps == 4


def test_a_disabled_scaler_is_no_scaler() -> None:
    model, optimizer, scaler = setting(enabled=False)
    with watched(model, optimizer) as watch:
        for _ in range(4):
            optimizer.zero_grad()
            scaler.scale(loss_of(model)).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
    assert watch.ledger.findings == ()
    assert [step.scaler for step in watch.events(ev.OptimizerStepped)] == [None] * 4
    assert not watch.events(ev.GradientsUnscaled)
    assert not watch.events(ev.LossScaled)


def test_one_scaler_for_two_optimizers() -> None:
    one, first, scaler = setting()
    two, second, _ = setting()
    with watched(one, two, first, second) as watch:
        for _ in range(4):
            for model, optimizer in ((one, first), (two, second)):
                optimizer.zero_grad()
                scaler.scale(loss_of(model)).backward()
                scaler.step(optimizer)
            scaler.update()
    assert watch.certain == []
    assert len({event.optimizer for event in watch.events(ev.ScalerStepped)}) == 2


@pytest.mark.parametrize("order", ["step", "update"])
def test_a_scaler_that_was_there_before(order: str) -> None:
    model, optimizer, scaler = setting()
    scaler.scale(loss_of(model)).backward()
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
    with watched() as watch:
        for _ in range(3):
            optimizer.zero_grad()
            scaler.scale(loss_of(model)).backward()
            scaler.step(optimizer)
            scaler.update()
    assert watch.ledger.findings == ()
    assert [built.site for built in watch.events(ev.ScalerBuilt)] == [None]
    assert watch.books.steps == 3


def test_a_step_refused_by_torch() -> None:
    model, optimizer, scaler = setting()
    with watched(model, optimizer) as watch:
        scaler.scale(loss_of(model)).backward()
        scaler.step(optimizer)
        with pytest.raises(RuntimeError, match="already been called"):
            scaler.step(optimizer)
        line = here() - 1
        with pytest.raises(AssertionError):
            torch.amp.GradScaler("cpu").step(optimizer)
    refused = watch.events(ev.StepRefused)
    assert [event.reason for event in refused][:1] == ["already-stepped"]
    assert refused[0].site.line == line
    assert watch.books.steps == 1


def test_a_clip_before_the_unscaling() -> None:
    model, optimizer, scaler = setting()
    with watched(model, optimizer) as watch:
        for _ in range(4):
            optimizer.zero_grad()
            scaler.scale(loss_of(model)).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            line = here() - 1
            scaler.step(optimizer)
            scaler.update()
    assert watch.certain == [("GL301", line)]


def test_a_step_around_the_scaler() -> None:
    model, optimizer, scaler = setting()
    with watched(model, optimizer) as watch:
        for _ in range(4):
            optimizer.zero_grad()
            scaler.scale(loss_of(model)).backward()
            optimizer.step()
            line = here() - 1
            scaler.update(4.0)
    assert watch.certain == [("GL302", line)]


def test_a_window_under_a_scaler() -> None:
    model, optimizer, scaler = setting()
    with watched(model, optimizer) as watch:
        for i in range(12):
            scaler.scale(loss_of(model) / 3).backward()
            assert watch.count(model[0].weight) == [(i % 3 + 1, 0)]
            if (i + 1) % 3 == 0:
                scaler.unscale_(optimizer)
                scaler.step(optimizer)
                scaler.update()
                optimizer.zero_grad()
    assert watch.ledger.findings == ()
    assert watch.books.steps == 4


def test_half_precision_forward() -> None:
    model, optimizer, scaler = setting(init_scale=2.0**10)
    with watched(model, optimizer) as watch:
        for _ in range(4):
            optimizer.zero_grad()
            with torch.autocast("cpu", dtype=torch.float16):
                loss = loss_of(model)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
    assert watch.ledger.findings == ()
    assert watch.books.steps + len(watch.events(ev.StepSkipped)) == 4
