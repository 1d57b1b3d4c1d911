"""Cached backward over several ranks: one sum per window, whatever the ranks' counts are."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel

import gradledger
from tests.replicas import together

pytestmark = pytest.mark.distributed


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 4)).double()

    def forward(self, x):
        return self.layers(x)


class Contrast(nn.Module):
    """A loss with a parameter of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.temperature = nn.Parameter(torch.tensor(0.3, dtype=torch.float64))

    def forward(self, e):
        return nn.functional.cross_entropy(e @ e.T / self.temperature.exp(), torch.arange(len(e)).roll(1))


SIZES = [[6, 4], [3, 9]]
"""Of each rank, window by window."""


def batch(rank: int, number: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(10 * rank + number)
    return torch.randn(SIZES[rank][number], 5, dtype=torch.float64, generator=generator)


def expected(with_temperature: bool = True) -> torch.Tensor:
    """The update of one process that sees all batches: each weighs its samples."""
    model, loss = Encoder(), Contrast()
    total = sum(map(sum, SIZES))
    for rank in (0, 1):
        for number in (0, 1):
            x = batch(rank, number)
            (loss(model(x)) * len(x) / total).backward()
    found = [p.grad.reshape(-1) for p in model.parameters()]
    return torch.cat([*found, loss.temperature.grad.reshape(1)] if with_temperature else found)


def trained(model, loss, parameters, rank, size, **options) -> int:
    optimizer = torch.optim.SGD(parameters, lr=1.0)
    acc = gradledger.Accumulator((model, loss), optimizer, every=2, **options)
    for x in acc.batches([batch(rank, number) for number in (0, 1)]):
        acc.cached_backward(model, x, loss, micro_batch=size)
    acc.close()
    return acc.step


def test_replicas_with_a_learned_temperature():
    def work(rank: int):
        model, loss = DistributedDataParallel(Encoder()), Contrast()
        parameters = [*model.parameters(), *loss.parameters()]
        before = torch.cat([p.detach().clone().reshape(-1) for p in parameters])
        steps = trained(model, loss, parameters, rank, 2)
        return steps, before - torch.cat([p.detach().reshape(-1) for p in parameters])

    (steps, one), (_, other) = together(work)
    assert steps == 1
    assert torch.equal(one, other)
    assert float((one - expected()).norm() / expected().norm()) <= 1e-10


@pytest.mark.parametrize("traffic", ["micro_batch", "window"])
def test_shards(traffic):
    def work(rank: int):
        model, loss = Encoder(), Contrast()
        before = torch.cat([p.detach().clone().reshape(-1) for p in model.parameters()])
        fully_shard(model, mesh=init_device_mesh("cpu", (2,)))
        optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
        acc = gradledger.Accumulator(model, optimizer, every=2, traffic=traffic)
        told = []
        tell = model.set_requires_gradient_sync
        model.set_requires_gradient_sync = lambda reduce: (told.append(reduce), tell(reduce))
        for number in (0, 1):
            x = batch(rank, number)
            parts = 3 if number == 0 else 2  # as many on both ranks, of different sizes
            acc.cached_backward(model, x, loss, micro_batch=-(-len(x) // parts))
        acc.close()
        after = torch.cat([p.detach().full_tensor().reshape(-1) for p in model.parameters()])
        return acc.step, told, before - after

    (steps, told, one), (_, _, other) = together(work)
    assert steps == 1
    # Once for the loss and once for each replay; of each pass the last word counts.
    passes = [told[1:4], told[5:7]]
    each = traffic == "micro_batch"
    assert passes == [[each] * 3, [each, True]]
    assert torch.equal(one, other)
    reference = expected(with_temperature=False)
    assert float((one - reference).norm() / reference.norm()) <= 1e-10


def test_shards_refuse_unequal_numbers_of_parts_on_every_rank():
    def work(rank: int):
        model, loss = Encoder(), Contrast()
        fully_shard(model, mesh=init_device_mesh("cpu", (2,)))
        acc = gradledger.Accumulator(model, torch.optim.SGD(model.parameters(), lr=1.0), every=2)
        with pytest.raises(gradledger.LedgerError, match="2 to 3 micro-batches"):
            acc.cached_backward(model, batch(rank, 0), loss, micro_batch=2)
        return True

    assert together(work) == [True, True]


def test_without_an_accumulator_only_the_last_replay_is_reduced():
    def work(rank: int):
        model, loss = DistributedDataParallel(Encoder()), Contrast()
        told = []
        model.module.register_forward_hook(
            lambda *_: told.append(model.require_backward_grad_sync) if torch.is_grad_enabled() else None
        )
        x = batch(rank, 0)
        gradledger.cached_backward(model, x, loss, micro_batch=-(-len(x) // 3), no_sync=model.no_sync)
        return told, torch.cat([p.grad.reshape(-1) for p in model.parameters()])

    (told, one), (_, other) = together(work)
    assert told == [False, False, True]
    assert torch.equal(one, other)
    model = Encoder()
    for rank in (0, 1):
        (Contrast()(model(batch(rank, 0))) / 2).backward()
    reference = torch.cat([p.grad.reshape(-1) for p in model.parameters()])
    assert float((one - reference).norm() / reference.norm()) <= 1e-10


def test_verification_of_replicas_is_local_and_talks_to_nobody():
    def work(rank: int):
        model = DistributedDataParallel(Encoder())
        acc = gradledger.Accumulator(model, torch.optim.SGD(model.parameters(), lr=1.0), every=2)
        found = []
        for number, x in enumerate(acc.batches([batch(rank, 0), batch(rank, 1)] * 2)):
            if rank == number - 2:  # not at the same time: a collective would hang or mix them up
                found.append(acc.verify([batch(rank, 0), batch(rank, 1)], lambda b: model(b).square().mean()))
            told = model.require_backward_grad_sync
            assert told is (number == 3)
            acc.backward(model(x).square().mean(), count=len(x))
        return acc.step, found[0].error, [p.detach() for p in model.parameters()]

    (steps, error, one), (_, _, other) = together(work)
    assert steps == 2
    assert error <= 1e-12
    assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


def test_statistics_of_replicas_are_those_of_each_ranks_window():
    def work(rank: int):
        model = DistributedDataParallel(nn.Sequential(nn.BatchNorm1d(5).double()))
        full = nn.BatchNorm1d(5).double()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
        acc = gradledger.Accumulator(model, optimizer, every=2, batchnorm="window")
        for x in acc.batches([batch(rank, 0), batch(rank, 1)]):
            acc.backward(model(x).square().mean(), count=len(x))
        acc.close()
        full(torch.cat([batch(rank, 0), batch(rank, 1)]))
        layer = model.module[0]
        return float((layer.running_mean - full.running_mean).abs().max()), int(layer.num_batches_tracked)

    for error, tracked in together(work):
        assert error <= 1e-12
        assert tracked == 1
