"""A program looked at closely computes exactly what it does without, and torch is left as it was."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.nn.modules import module as calls
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset

from gradledger.ledger import details as d
from gradledger.runtime.detail.wanted import Wanted
from tests.runtime.test_unchanged import outcome
from tests.traced import only, traced


def loader(size: int = 4) -> DataLoader[Any]:
    data = TensorDataset(torch.randn(24, 5), torch.randint(0, 3, (24,)))
    return DataLoader(data, batch_size=size, shuffle=True)


def dropout() -> Any:
    model = nn.Sequential(
        nn.Linear(5, 8), nn.BatchNorm1d(8), nn.ReLU(inplace=True), nn.Dropout(), nn.Linear(8, 3)
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(2):
        for x, y in loader():
            optimizer.zero_grad()
            functional.cross_entropy(model(x), y).backward()
            optimizer.step()
    return model.state_dict()


def accumulation() -> Any:
    model = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Dropout(), nn.Linear(8, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 4)
    for number, (x, y) in enumerate(loader(), 1):
        (functional.cross_entropy(model(x), y) / 2).backward()
        if number % 2 == 0:
            nn.utils.clip_grad_norm_((p for p in model.parameters()), 0.1)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad(set_to_none=False)
    return model.state_dict()


def half_precision() -> Any:
    model = nn.Sequential(nn.Linear(5, 8), nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**15, growth_interval=2)
    for _ in range(6):
        x = torch.randn(4, 5)
        with torch.autocast("cpu", dtype=torch.float16):
            loss = functional.mse_loss(model(x), x.sum(1, keepdim=True))
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
    return model.state_dict(), scaler.get_scale()


def checkpointed() -> Any:
    first, last = nn.Sequential(nn.Linear(5, 8), nn.Dropout()), nn.Linear(8, 1)
    optimizer = torch.optim.SGD([*first.parameters(), *last.parameters()], lr=0.1)
    for reentrant in (True, False, True):
        x = torch.randn(4, 5, requires_grad=True)
        optimizer.zero_grad()
        last(checkpoint(first, x, use_reentrant=reentrant)).sum().backward()
        optimizer.step()
    return first.state_dict(), last.state_dict()


def raising() -> Any:
    model = nn.Sequential(nn.Linear(5, 8), nn.Linear(8, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for width in (5, 4, 5):
        optimizer.zero_grad()
        try:
            model(torch.randn(2, width)).sum().backward()
        except RuntimeError:
            continue
        optimizer.step()
    return model.state_dict()


def closure() -> Any:
    model = nn.Linear(5, 1)
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=3)
    x, y = torch.randn(8, 5), torch.randn(8, 1)

    def evaluate() -> Any:
        optimizer.zero_grad()
        loss = functional.mse_loss(model(x), y)
        loss.backward()
        return loss

    for _ in range(3):
        optimizer.step(evaluate)
    return model.state_dict()


def compiled() -> Any:
    torch._dynamo.reset()
    model = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    @torch.compile(backend="eager", fullgraph=True)
    def lost(x: Any, y: Any) -> Any:
        return functional.cross_entropy(model(x), y)

    for x, y in loader():
        optimizer.zero_grad()
        lost(x, y).backward()
        optimizer.step()
    return model.state_dict()


@pytest.mark.parametrize(
    "program",
    [dropout, accumulation, half_precision, checkpointed, raising, closure, compiled],
    ids=lambda program: program.__name__,
)
def test_weights_and_random_numbers_stay_the_same_bits(program: Callable[[], Any], tmp_path: Path) -> None:
    plain = outcome(program)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*hook")  # torch says so where a hook of ours fails
        looked_at, events = traced(lambda: outcome(program), tmp_path / "run.jsonl", Wanted((1, 2, 3)))
    assert looked_at == plain
    assert only(events, d.LossSeen)  # it was looked at indeed


def test_torch_is_left_as_it_was(tmp_path: Path) -> None:
    names = ("cross_entropy", "mse_loss", "nll_loss", "binary_cross_entropy_with_logits")
    before = [getattr(functional, name) for name in names], torch.autograd.backward
    hooks = dict(calls._global_forward_hooks), dict(calls._global_forward_pre_hooks)
    traced(dropout, tmp_path / "run.jsonl", Wanted((1, 100)))
    assert ([getattr(functional, name) for name in names], torch.autograd.backward) == before
    assert (dict(calls._global_forward_hooks), dict(calls._global_forward_pre_hooks)) == hooks


def test_a_fault_of_ours_ends_the_details_and_nothing_else(tmp_path: Path, monkeypatch: Any) -> None:
    from gradledger.host.session import Session
    from gradledger.runtime.detail import losses

    def broken(_: Any) -> None:
        raise ZeroDivisionError("ours")

    monkeypatch.setattr(losses, "one_number", broken)
    plain = outcome(dropout)
    session = Session(save=str(tmp_path / "run.jsonl"), details=Wanted())
    session.start()
    looked_at = outcome(dropout)
    answer = session.finish()
    assert looked_at == plain
    assert answer.checked.steps == 12
    assert "ZeroDivisionError: ours" in answer.notes[0]
