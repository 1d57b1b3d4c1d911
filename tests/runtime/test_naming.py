"""Recordings name parameters as the model does, once; without a recording nobody looks for names."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

import gradledger
from gradledger.ledger.details import ParametersNamed
from gradledger.ledger.recording import read
from gradledger.report.replay.retelling import retold
from gradledger.runtime import naming


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(3, 4)
        self.head = nn.Linear(4, 2)

    def forward(self, x: torch.Tensor, *, only_body: bool = False) -> torch.Tensor:
        return self.body(x) if only_body else self.head(self.body(x))


def train(model: Net, path: Path | None, *, alone: int = 0) -> None:
    with gradledger.watch(save=None if path is None else str(path)):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for turn in range(6):
            model(torch.ones(2, 3), only_body=turn < alone).sum().backward()
            optimizer.step()
            optimizer.zero_grad()


def test_a_recording_names_the_parameters(tmp_path: Path) -> None:
    train(Net(), tmp_path / "run.jsonl")
    named = [event for event in read(tmp_path / "run.jsonl") if isinstance(event, ParametersNamed)]
    names = ("body.weight", "body.bias", "head.weight", "head.bias")
    assert [(event.account, event.names) for event in named] == [(1, names)]
    (row,) = retold(str(tmp_path / "run.jsonl"), ".").timeline.data()["rows"]
    assert row["names"] == list(names)


def test_a_group_that_was_split_names_both_parts(tmp_path: Path) -> None:
    train(Net(), tmp_path / "run.jsonl", alone=2)
    rows = retold(str(tmp_path / "run.jsonl"), ".").timeline.data()["rows"]
    assert sorted(map(tuple, (row["names"] for row in rows))) == [
        ("body.weight", "body.bias"),
        ("head.weight", "head.bias"),
    ]


def test_nobody_looks_for_names_without_a_recording(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(naming, "outermost_models", lambda: pytest.fail("looked"))
    train(Net(), None)


def test_a_model_that_will_not_be_asked_costs_only_its_names(tmp_path: Path) -> None:
    class Shy(Net):
        def named_parameters(self, *args: object, **kwargs: object) -> object:
            raise RuntimeError("private")

        def parameters(self, recurse: bool = True) -> object:
            return iter([*self.body.parameters(), *self.head.parameters()])

    train(Shy(), tmp_path / "run.jsonl")
    (row,) = retold(str(tmp_path / "run.jsonl"), ".").timeline.data()["rows"]
    assert row["names"] == []
    assert row["posted"] == 6
