"""Graphs are found wherever a program's own objects keep them, and told at the line that puts them there."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from gradledger.ledger import events as ev
from tests.watched import watched


class Mean:
    def __init__(self) -> None:
        self.mean: Any = 0
        self.total: Any = 0
        self.count = 0

    def update(self, value: Any, count: int = 1) -> None:
        self.total += value * count  # it is here
        self.count += count
        self.mean = self.total / self.count


class Listed:
    def __init__(self) -> None:
        self.values: list[Any] = []

    def update(self, value: Any) -> None:
        self.values.append(value)  # it is here


class ByName:
    def __init__(self) -> None:
        self.log: dict[str, list[Any]] = {}

    def update(self, value: Any) -> None:
        self.log.setdefault("loss", []).append(value)  # it is here


class Derived(Listed):
    pass


class Trainer:
    def __init__(self, meter: Any) -> None:
        self.meter = meter

    def update(self, value: Any) -> None:
        self.meter.update(value)


def line_of(cls: type) -> int:
    lines, first = inspect.getsourcelines(cls)
    return first + next(n for n, text in enumerate(lines) if "it is here" in text)


def train(update: Callable[[Tensor], None], held: Any) -> list[ev.GraphKept]:
    """Twelve steps; `held` is what a variable of this function refers to."""
    torch.manual_seed(0)
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with watched(model) as watch:
        for _ in range(12):
            optimizer.zero_grad()
            loss = model(torch.randn(4, 3)).square().mean()
            loss.backward()
            optimizer.step()
            update(loss)
        assert held is not None
    return watch.events(ev.GraphKept)


@pytest.mark.parametrize(
    ("held", "cls"),
    [(Mean(), Mean), (Listed(), Listed), (ByName(), ByName), (Derived(), Listed), (Trainer(Mean()), Mean)],
)
def test_the_line_is_that_of_the_class(held: Any, cls: type) -> None:
    kept = train(held.update, held)
    assert {event.site.line for event in kept if event.site} == {line_of(cls)}


def test_objects_in_a_table_are_looked_into() -> None:
    meters = {"loss": Mean()}
    kept = train(meters["loss"].update, meters)
    assert {event.site.line for event in kept if event.site} == {line_of(Mean)}
    assert "['loss']" in kept[0].name


@pytest.mark.parametrize("meter", [Mean(), Listed(), ByName()])
def test_numbers_keep_nothing(meter: Any) -> None:
    assert train(lambda loss: meter.update(loss.item()), meter) == []


@pytest.mark.parametrize("meter", [Mean(), Listed(), ByName()])
def test_detached_tensors_keep_nothing(meter: Any) -> None:
    assert train(lambda loss: meter.update(loss.detach()), meter) == []
