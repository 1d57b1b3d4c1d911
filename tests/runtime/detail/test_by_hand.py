"""Accuracy of losses written by hand: recounted independently where it is certain, silent elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

from gradledger.ledger.details import AccuracySeen
from tests.traced import only, traced

Loss = Callable[[Tensor, Tensor], Tensor]


def gathered(out: Tensor, y: Tensor) -> Tensor:
    return -out.log_softmax(1).gather(1, y[:, None]).squeeze(1).mean()


def indexed(out: Tensor, y: Tensor) -> Tensor:
    return -torch.log_softmax(out, dim=-1)[torch.arange(len(y)), y].mean() / 4


def one_hot(out: Tensor, y: Tensor) -> Tensor:
    smooth = functional.one_hot(y, out.shape[1]).float() * 0.9 + 0.1 / out.shape[1]
    return -(smooth * functional.log_softmax(out, 1)).sum(1).mean()


def logsumexp(out: Tensor, y: Tensor) -> Tensor:
    return (out.logsumexp(1) - out.gather(1, y.unsqueeze(1)).squeeze(1)).mean()


def focal(out: Tensor, y: Tensor) -> Tensor:
    picked = out.log_softmax(1).gather(1, y[:, None]).squeeze(1)
    return -((1 - picked.exp()) ** 2 * picked).mean()


class Criterion(nn.Module):
    def forward(self, outputs: Tensor, targets: Tensor) -> Tensor:
        return gathered(outputs, targets)


def masked(out: Tensor, y: Tensor) -> Tensor:
    nll = -out.log_softmax(1).gather(1, y[:, None]).squeeze(1)
    return (nll * (y != 0)).sum() / (y != 0).sum()


def left_out(out: Tensor, y: Tensor) -> Tensor:
    keep = y != 0
    return gathered(out[keep], y[keep])


def regression(out: Tensor, y: Tensor) -> Tensor:
    return (out.sum(1) - y).pow(2).mean()


def sliced(out: Tensor, y: Tensor) -> Tensor:
    return gathered(out[:-1], y[1:])


def train(loss_of: Loss, measure: Callable[[Tensor, Tensor], None] = lambda *_: None) -> Any:
    """Eight batches of ten, three classes."""
    torch.manual_seed(1)
    x = torch.randn(80, 4)
    y = torch.randint(0, 3, (80,))
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for inputs, targets in DataLoader(TensorDataset(x, y), batch_size=10, shuffle=True):
        out = model(inputs)
        optimizer.zero_grad()
        loss_of(out, targets).backward()
        measure(out.detach(), targets)
        optimizer.step()
    return [p.detach().clone() for p in model.parameters()], torch.rand(3)


@pytest.mark.parametrize("loss", [gathered, indexed, one_hot, logsumexp, focal, Criterion()])
def test_classes_are_counted_in_every_pass(loss: Loss, tmp_path: Path) -> None:
    counted: list[float] = []
    weights, dice = train(loss, lambda out, y: counted.append(float((out.argmax(1) == y).sum()) / 10))
    (again, same), events = traced(lambda: train(loss), tmp_path / "run.jsonl")
    assert [(seen.value, seen.samples) for seen in only(events, AccuracySeen)] == [
        (pytest.approx(value), 10) for value in counted
    ]
    assert len(counted) == 8
    assert all(torch.equal(one, other) for one, other in zip(weights, again, strict=True))
    assert torch.equal(dice, same)


@pytest.mark.parametrize("loss", [masked, left_out, regression, sliced])
def test_what_is_not_certain_is_not_told(loss: Loss, tmp_path: Path) -> None:
    _, events = traced(lambda: train(loss), tmp_path / "run.jsonl")
    assert only(events, AccuracySeen) == []


def binary(loss_of: Loss, shape: tuple[int, ...], measure: Callable[..., None] = lambda *_: None) -> None:
    torch.manual_seed(2)
    x, y = torch.randn(40, 4), torch.randint(0, 2, (40, *shape)).float()
    model = nn.Linear(4, 3 if shape else 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for inputs, targets in DataLoader(TensorDataset(x, y), batch_size=8):
        out = model(inputs)
        optimizer.zero_grad()
        loss_of(out if shape else out.squeeze(1), targets).backward()
        measure(out.detach().reshape(targets.shape), targets)
        optimizer.step()


def cross_entropy_by_hand(out: Tensor, y: Tensor) -> Tensor:
    p = out.sigmoid()
    return -(y * p.log() + (1 - y) * (1 - p).log()).mean()


def softplus(out: Tensor, y: Tensor) -> Tensor:
    return (functional.softplus(out) - out * y).mean()


@pytest.mark.parametrize("shape", [(), (3,)])
@pytest.mark.parametrize("loss", [cross_entropy_by_hand, softplus])
def test_yes_and_no_are_counted(loss: Loss, shape: tuple[int, ...], tmp_path: Path) -> None:
    counted: list[float] = []
    binary(loss, shape, lambda out, y: counted.append(float(((out > 0).float() == y).float().mean())))
    _, events = traced(lambda: binary(loss, shape), tmp_path / "run.jsonl")
    assert [seen.value for seen in only(events, AccuracySeen)] == pytest.approx(counted)
    assert len(counted) == 5


def tokens(measure: Callable[..., None] = lambda *_: None) -> None:
    """Token ids in, a class for each token out, some of which do not count."""
    torch.manual_seed(3)
    ids, labels = torch.randint(0, 9, (24, 5)), torch.randint(0, 4, (24, 5))
    labels[:, -1] = -100
    model = nn.Sequential(nn.Embedding(9, 6), nn.Linear(6, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for a, b in DataLoader(TensorDataset(ids, labels), batch_size=6):
        out = model(a)
        counts = b.clamp_min(0)
        optimizer.zero_grad()
        functional.cross_entropy(out.transpose(1, 2), b, None, None, -100).backward()
        measure(float((out.argmax(-1) == counts)[:, :-1].float().mean()))
        optimizer.step()


def test_tokens_that_do_not_count(tmp_path: Path) -> None:
    counted: list[float] = []
    tokens(counted.append)
    _, events = traced(tokens, tmp_path / "run.jsonl")
    seen = only(events, AccuracySeen)
    assert [one.value for one in seen] == pytest.approx(counted)
    assert {one.samples for one in seen} == {24}


@pytest.mark.parametrize("smoothed", [0.0, 0.1])
def test_one_hot_targets_of_cross_entropy(smoothed: float, tmp_path: Path) -> None:
    def loss(out: Tensor, y: Tensor) -> Tensor:
        rows = functional.one_hot(y, 3).float() * (1 - smoothed) + smoothed / 3
        return functional.cross_entropy(out, rows)

    counted: list[float] = []
    train(loss, lambda out, y: counted.append(float((out.argmax(1) == y).float().mean())))
    _, events = traced(lambda: train(loss), tmp_path / "run.jsonl")
    assert [seen.value for seen in only(events, AccuracySeen)] == pytest.approx(counted)


def test_mixed_targets_are_neither_right_nor_wrong(tmp_path: Path) -> None:
    def mixed(out: Tensor, y: Tensor) -> Tensor:
        rows = functional.one_hot(y, 3).float()
        return functional.cross_entropy(out, 0.6 * rows + 0.4 * rows.flip(0))

    _, events = traced(lambda: train(mixed), tmp_path / "run.jsonl")
    assert only(events, AccuracySeen) == []
