"""Compiled models are cached, verified and counted like others."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

import gradledger
from gradledger.engine import rehearsal


def data(number: int = 8) -> torch.Tensor:
    return torch.randn(number, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


@pytest.fixture(autouse=True)
def _fresh():
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def contrast(e: torch.Tensor) -> torch.Tensor:
    return (e @ e.T).logsumexp(1).mean()


def test_statistics_of_the_window():
    model = nn.Sequential(nn.Linear(5, 4), nn.BatchNorm1d(4)).double()
    full = copy.deepcopy(model)
    compiled = torch.compile(model, backend="eager")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    acc = gradledger.Accumulator(compiled, optimizer, every=2, batchnorm="window")
    for _ in range(3):
        for part in data().split(4):
            acc.backward(compiled(part).square().mean(), count=4)
        full(data())
    acc.close()
    assert torch.allclose(model[1].running_mean, full[1].running_mean, rtol=1e-12)
    assert torch.allclose(model[1].running_var, full[1].running_var, rtol=1e-12)
    assert int(model[1].num_batches_tracked) == 3


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.filterwarnings("ignore:Using `torch.compile")
def test_cached_backward_compiles_the_model_a_few_times_only(hidden, monkeypatch):
    monkeypatch.setattr(rehearsal, "_spoken", True)
    model = nn.Sequential(nn.Linear(5, 4), nn.BatchNorm1d(4)).double()
    model[1].eval()
    hand = copy.deepcopy(model)
    calls = 0

    def backend(graph, _):
        nonlocal calls
        calls += 1
        return graph

    compiled = torch.compile(model, backend=backend)
    nets = {"mine": compiled}  # where nobody looks for a module
    for _ in range(6):
        model.zero_grad()
        encode = (lambda x: nets["mine"](x)) if hidden else compiled
        gradledger.cached_backward(encode, data(), contrast, micro_batch=4)
    contrast(hand(data())).backward()
    assert torch.allclose(model[0].weight.grad, hand[0].weight.grad, rtol=1e-10)
    assert calls <= 12


def test_statistics_count_once_per_micro_batch_of_a_cached_backward(monkeypatch):
    monkeypatch.setattr(rehearsal, "_spoken", False)
    model = nn.Sequential(nn.Linear(5, 4), nn.BatchNorm1d(4)).double()
    compiled = torch.compile(model, backend="eager")
    with pytest.warns(RuntimeWarning, match="BatchNorm"):
        gradledger.cached_backward(compiled, data(), contrast, micro_batch=4)
    assert int(model[1].num_batches_tracked) == 2


def test_verification():
    model = nn.Sequential(nn.Linear(5, 4), nn.BatchNorm1d(4), nn.Dropout(0.5)).double()
    compiled = torch.compile(model, backend="eager")
    acc = gradledger.Accumulator(compiled, torch.optim.SGD(model.parameters(), lr=0.0), every=2)
    found = acc.verify(data().split(4), lambda x: compiled(x).pow(4).mean())
    assert found.causes == ("BatchNorm couples the samples of a micro-batch",)
    assert int(model[1].num_batches_tracked) == 0
    model[1].eval()
    assert acc.verify(data().split(3), lambda x: compiled(x).pow(4).mean()).error <= 1e-12
