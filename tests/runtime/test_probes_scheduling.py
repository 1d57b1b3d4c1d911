"""Every advance of every schedule is seen once, whoever wrote the scheduler."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.optim import lr_scheduler, swa_utils

from gradledger.ledger import events as ev
from tests.watched import watched


def here() -> int:
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno


def pair() -> tuple[nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    return model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


def update(model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    optimizer.zero_grad()
    model(torch.randn(4, 3)).square().mean().backward()
    optimizer.step()


class Noam(lr_scheduler.LRScheduler):
    """The user's own, without a step() of its own."""

    def get_lr(self) -> list[float]:
        n = max(self.last_epoch, 1)
        return [base * min(n**-0.5, n * 4**-1.5) for base in self.base_lrs]


class Counting(lr_scheduler.LambdaLR):
    """The user's own, with a step() that calls torch's."""

    def __init__(self, optimizer: Any) -> None:
        self.calls = 0
        super().__init__(optimizer, lambda n: 0.9**n)

    def step(self, epoch: Any = None) -> None:
        self.calls += 1
        super().step(epoch)


class FromScratch(lr_scheduler.LRScheduler):
    """The user's own, with a step() that does everything."""

    def __init__(self, optimizer: Any) -> None:
        self.optimizer, self.done = optimizer, 0

    def step(self, epoch: Any = None) -> None:
        self.done += 1
        for group in self.optimizer.param_groups:
            group["lr"] *= 0.9

    def state_dict(self) -> dict[str, Any]:
        return {"done": self.done}


SCHEDULES: dict[str, Callable[[Any], Any]] = {
    "StepLR": lambda o: lr_scheduler.StepLR(o, 2),
    "MultiStepLR": lambda o: lr_scheduler.MultiStepLR(o, [2, 4]),
    "ConstantLR": lambda o: lr_scheduler.ConstantLR(o),
    "LinearLR": lambda o: lr_scheduler.LinearLR(o),
    "ExponentialLR": lambda o: lr_scheduler.ExponentialLR(o, 0.9),
    "PolynomialLR": lambda o: lr_scheduler.PolynomialLR(o, 8),
    "CosineAnnealingLR": lambda o: lr_scheduler.CosineAnnealingLR(o, 8),
    "CosineAnnealingWarmRestarts": lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 3),
    "CyclicLR": lambda o: lr_scheduler.CyclicLR(o, 0.01, 0.1, 3),
    "OneCycleLR": lambda o: lr_scheduler.OneCycleLR(o, 0.1, total_steps=10),
    "LambdaLR": lambda o: lr_scheduler.LambdaLR(o, lambda n: 0.9**n),
    "MultiplicativeLR": lambda o: lr_scheduler.MultiplicativeLR(o, lambda n: 0.9),
    "SWALR": lambda o: swa_utils.SWALR(o, 0.05),
    "SequentialLR": lambda o: lr_scheduler.SequentialLR(
        o, [lr_scheduler.LinearLR(o, 0.1, total_iters=2), lr_scheduler.ExponentialLR(o, 0.9)], [2]
    ),
    "ChainedScheduler": lambda o: lr_scheduler.ChainedScheduler(
        [lr_scheduler.ConstantLR(o, 0.5, 2), lr_scheduler.ExponentialLR(o, 0.9)]
    ),
    "a sequence within a chain": lambda o: lr_scheduler.ChainedScheduler(
        [
            lr_scheduler.SequentialLR(
                o, [lr_scheduler.ConstantLR(o, 0.5, 2), lr_scheduler.ExponentialLR(o, 0.9)], [2]
            ),
            lr_scheduler.StepLR(o, 3, 0.9),
        ]
    ),
    "Noam": Noam,
    "Counting": Counting,
    "FromScratch": FromScratch,
}


@pytest.mark.parametrize("build", SCHEDULES.values(), ids=SCHEDULES)
@pytest.mark.parametrize("before", [True, False], ids=["built before", "built during"])
def test_each_advance_is_one_event(build: Callable[[Any], Any], before: bool) -> None:
    model, optimizer = pair()
    scheduler = build(optimizer) if before else None
    with watched(model, optimizer) as watch:
        scheduler = scheduler or build(optimizer)
        assert watch.ledger.findings == ()
        for _ in range(5):
            update(model, optimizer)
            scheduler.step()
            line = here() - 1
    assert watch.ledger.findings == ()
    assert watch.lines(ev.SchedulerStepped) == [line] * 5
    assert len({event.scheduler for event in watch.events(ev.SchedulerStepped)}) == 1
    owners = {event.optimizer for event in watch.events(ev.SchedulerStepped)}
    assert owners == {event.optimizer for event in watch.events(ev.OptimizerStepped)}
    (built,) = watch.events(ev.SchedulerBuilt)
    assert built.kind == type(scheduler).__name__
    (book,) = watch.books.schedulers.values()
    assert book.before_any_step is None


def test_a_plateau_is_told_its_metric() -> None:
    model, optimizer = pair()
    with watched(model, optimizer) as watch:
        scheduler = lr_scheduler.ReduceLROnPlateau(optimizer, patience=0)
        for value in (1.0, 1.0, 1.0):
            update(model, optimizer)
            scheduler.step(value)
    assert watch.ledger.findings == ()
    assert [event.explicit for event in watch.events(ev.SchedulerStepped)] == [False] * 3
    assert optimizer.param_groups[0]["lr"] < 0.1


@pytest.mark.filterwarnings("ignore:The epoch parameter")
def test_an_advance_to_a_point_of_the_callers_choice() -> None:
    model, optimizer = pair()
    with watched(model, optimizer) as watch:
        scheduler = lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 4)
        for i in range(8):
            update(model, optimizer)
            scheduler.step(i / 4)
        other = lr_scheduler.StepLR(optimizer, 3)
        other.step(epoch=2)
    assert [event.explicit for event in watch.events(ev.SchedulerStepped)] == [True] * 9


PLANS: dict[str, tuple[Callable[[Any], Any], int | None]] = {
    "OneCycleLR": (lambda o: lr_scheduler.OneCycleLR(o, 0.1, total_steps=40), 40),
    "CosineAnnealingLR": (lambda o: lr_scheduler.CosineAnnealingLR(o, 25), 25),
    "LinearLR": (lambda o: lr_scheduler.LinearLR(o, total_iters=7), 7),
    "MultiStepLR": (lambda o: lr_scheduler.MultiStepLR(o, [3, 9]), 9),
    "SequentialLR": (SCHEDULES["SequentialLR"], 2),
    "ExponentialLR": (SCHEDULES["ExponentialLR"], None),
}


@pytest.mark.parametrize(("build", "horizon"), PLANS.values(), ids=PLANS)
def test_the_length_of_the_plan_is_read(build: Callable[[Any], Any], horizon: int | None) -> None:
    model, optimizer = pair()
    with watched(model, optimizer) as watch:
        scheduler = build(optimizer)
        update(model, optimizer)
        scheduler.step()
    (built,) = watch.events(ev.SchedulerBuilt)
    assert built.horizon == horizon


@pytest.mark.filterwarnings("ignore:Detected call of")
@pytest.mark.parametrize("build", [SCHEDULES["StepLR"], Noam, Counting], ids=["StepLR", "Noam", "Counting"])
def test_an_advance_before_the_first_step_is_reported(build: Callable[[Any], Any]) -> None:
    model, optimizer = pair()
    with watched(model, optimizer) as watch:
        scheduler = build(optimizer)
        for _ in range(4):
            optimizer.zero_grad()
            model(torch.randn(4, 3)).square().mean().backward()
            scheduler.step()
            line = here() - 1
            optimizer.step()
    assert watch.certain == [("GL206", line)]


def test_an_advance_per_micro_batch_is_reported() -> None:
    model, optimizer = pair()
    with watched(model, optimizer) as watch:
        scheduler = lr_scheduler.CosineAnnealingLR(optimizer, 4)
        for i in range(16):
            (model(torch.randn(4, 3)).square().mean() / 4).backward()
            if (i + 1) % 4 == 0:
                optimizer.step()
                optimizer.zero_grad()
            if i >= 3:
                scheduler.step()
                line = here() - 1
    assert watch.certain == [("GL205", line)]


def test_two_schedules_of_two_optimizers() -> None:
    (one, first), (two, second) = pair(), pair()
    with watched(one, two, first, second) as watch:
        schedules = [lr_scheduler.StepLR(first, 2), lr_scheduler.ExponentialLR(second, 0.9)]
        for _ in range(3):
            update(one, first)
            update(two, second)
            for scheduler in schedules:
                scheduler.step()
    assert watch.ledger.findings == ()
    assert len({(e.scheduler, e.optimizer) for e in watch.events(ev.SchedulerStepped)}) == 2


def test_a_class_written_during_the_watch() -> None:
    model, optimizer = pair()
    with watched(model, optimizer) as watch:

        class Late(lr_scheduler.LRScheduler):
            def get_lr(self) -> list[float]:
                return [0.1 for _ in self.base_lrs]

            def step(self, epoch: Any = None) -> None:
                super().step(epoch)

        scheduler = Late(optimizer)
        for _ in range(3):
            update(model, optimizer)
            scheduler.step()
    assert len(watch.events(ev.SchedulerStepped)) == 3
