"""Forwards that do not count move no buffer, and break no module."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from gradledger.engine.rehearsal import modules_of, rehearsal, rehearsing


class Growing(nn.Module):
    """Remembers in plain attributes how large its buffer is."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("table", torch.zeros(2))
        self.known = 2

    def forward(self, length: int) -> torch.Tensor:
        if length > self.known:
            self.table, self.known = torch.arange(float(length)), length
            self.register_buffer("more", torch.ones(length))
        return self.table[:length] + getattr(self, "more", torch.zeros(1))[:length]


class Queue(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("held", torch.zeros(3))
        self.register_buffer("nothing", None)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.held = self.held + x
        self.nothing = x
        return self.held


@pytest.mark.parametrize("known", [True, False])
def test_in_place_and_assigned_buffers_come_back_as_the_objects_they_were(known):
    norm, queue = nn.BatchNorm1d(3), Queue()
    mean, held = norm.running_mean, queue.held
    version = mean._version
    with rehearsal([norm, queue] if known else ()):
        assert rehearsing()
        queue(norm(torch.randn(4, 3)).sum(0))
        assert norm.running_mean is not mean
    assert not rehearsing()
    assert norm.running_mean is mean
    assert mean._version == version
    assert torch.equal(mean, torch.zeros(3))
    assert int(norm.num_batches_tracked) == 0
    assert queue.held is held
    assert torch.equal(held, torch.zeros(3))
    assert queue.nothing is None


def test_a_cache_that_has_grown_stays():
    module = Growing()
    with rehearsal():
        module(5)
    assert module(5).shape == (5,)
    assert module(2).shape == (2,)


def test_shared_buffers_stay_shared():
    one, other = nn.BatchNorm1d(3), nn.BatchNorm1d(3)
    other.running_mean = one.running_mean
    with rehearsal([one, other]):
        assert one.running_mean is other.running_mean
    assert one.running_mean is other.running_mean


def test_lazy_layers_come_to_life():
    layer = nn.LazyBatchNorm1d()
    with rehearsal([layer]):
        layer(torch.randn(4, 3))
    assert layer.running_mean.shape == (3,)
    layer(torch.randn(4, 3))


def test_an_error_ends_it():
    norm = nn.BatchNorm1d(3)
    mean = norm.running_mean
    with pytest.raises(ZeroDivisionError), rehearsal([norm]):
        norm(torch.randn(4, 3))
        1 / 0
    assert norm.running_mean is mean
    assert not rehearsing()
    assert not torch.nn.modules.module._global_forward_pre_hooks


def test_the_modules_of_a_function():
    net = nn.Sequential(nn.Linear(1, 1))
    assert set(modules_of(net)) == set(net.modules())
    assert set(modules_of(lambda x: net(x))) == set(net.modules())
    assert set(modules_of(net.forward)) == set(net.modules())
    assert modules_of(len) == []
