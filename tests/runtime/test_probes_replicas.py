"""Replicas: whether a pass reduced its gradients, with DDP, with FSDP2 and by hand."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from gradledger.ledger import events as ev
from tests.replicas import together
from tests.watched import watched

pytestmark = pytest.mark.distributed

WINDOW = 3
Setting = tuple[nn.Module, torch.optim.Optimizer]


def net() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))


def ddp() -> Setting:
    model = DistributedDataParallel(net())
    return model, torch.optim.SGD(model.parameters(), lr=0.01)


def fsdp() -> Setting:
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    model = net()
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    fully_shard(model[0], mesh=mesh)
    fully_shard(model, mesh=mesh)
    return model, torch.optim.SGD(model.parameters(), lr=0.01)


def by_hand() -> Setting:
    model = net()
    return model, torch.optim.SGD(model.parameters(), lr=0.01)


def loss_of(model: nn.Module, generator: torch.Generator) -> Tensor:
    return model(torch.randn(4, 3, generator=generator)).square().mean() / WINDOW


def windows(build: Callable[[], Setting], loop: Callable[..., None]) -> list[Any]:
    """What each of two ranks booked and found in four windows."""

    def work(rank: int) -> Any:
        model, optimizer = build()
        generator = torch.Generator().manual_seed(rank)
        with watched(model, optimizer) as watch:
            for _ in range(4):
                loop(model, generator)
                optimizer.step()
                optimizer.zero_grad()
        reduced = [ran.reduced for ran in watch.events(ev.BackwardRan)]
        return reduced, sorted(watch.codes), watch.books.steps

    return together(work)


def sync_last_forward(model: nn.Module, generator: torch.Generator) -> None:
    for micro in range(WINDOW):
        with nullcontext() if micro == WINDOW - 1 else model.no_sync():
            loss_of(model, generator).backward()


def sync_always(model: nn.Module, generator: torch.Generator) -> None:
    for _ in range(WINDOW):
        loss_of(model, generator).backward()


def sync_never(model: nn.Module, generator: torch.Generator) -> None:
    with model.no_sync():
        for _ in range(WINDOW):
            loss_of(model, generator).backward()


def sync_around_backward_only(model: nn.Module, generator: torch.Generator) -> None:
    for micro in range(WINDOW):
        loss = loss_of(model, generator)
        with nullcontext() if micro == WINDOW - 1 else model.no_sync():
            loss.backward()


def test_ddp_with_one_reduction_in_each_window() -> None:
    assert windows(ddp, sync_last_forward) == [([False, False, True] * 4, [], 4)] * 2


def test_ddp_with_a_reduction_in_each_pass() -> None:
    assert windows(ddp, sync_always) == [([True] * 12, ["GL501"], 4)] * 2


def test_ddp_without_any_reduction() -> None:
    assert windows(ddp, sync_never) == [([False] * 12, ["GL502"], 4)] * 2


def test_ddp_decides_in_forward() -> None:
    assert windows(ddp, sync_around_backward_only) == [([True] * 12, ["GL501"], 4)] * 2


def shards_sync_last(model: Any, generator: torch.Generator) -> None:
    for micro in range(WINDOW):
        model.set_requires_gradient_sync(micro == WINDOW - 1)
        loss_of(model, generator).backward()


def shards_sync_never(model: Any, generator: torch.Generator) -> None:
    model.set_requires_gradient_sync(False)
    for _ in range(WINDOW):
        loss_of(model, generator).backward()


def test_fsdp2_with_one_reduction_in_each_window() -> None:
    assert windows(fsdp, shards_sync_last) == [([False, False, True] * 4, [], 4)] * 2


def test_fsdp2_with_a_reduction_in_each_pass() -> None:
    assert windows(fsdp, sync_always) == [([True] * 12, ["GL501"], 4)] * 2


def test_fsdp2_without_any_reduction() -> None:
    assert windows(fsdp, shards_sync_never) == [([False] * 12, ["GL502"], 4)] * 2


def test_gradients_reduced_by_hand() -> None:
    def loop(model: nn.Module, generator: torch.Generator) -> None:
        for _ in range(WINDOW):
            loss_of(model, generator).backward()
        for p in model.parameters():
            dist.all_reduce(p.grad)
            p.grad /= dist.get_world_size()

    assert windows(by_hand, loop) == [([None] * 12, [], 4)] * 2


def test_ddp_reduced_by_hand_under_no_sync() -> None:
    def loop(model: nn.Module, generator: torch.Generator) -> None:
        sync_never(model, generator)
        for p in model.parameters():
            dist.all_reduce(p.grad)

    (first, second) = windows(ddp, loop)
    assert first == second
    assert (first[1], first[2]) == ([], 4)


def test_balances_of_replicas() -> None:
    def work(rank: int) -> Any:
        model, optimizer = ddp()
        generator = torch.Generator().manual_seed(rank)
        weight = model.module[0].weight
        with watched(model, optimizer) as watch:
            sync_last_forward(model, generator)
            counts = watch.count(weight)
            optimizer.step()
            counts += watch.count(weight)
            optimizer.zero_grad()
            return counts + watch.count(weight)

    assert together(work) == [[(3, 0), (0, 3), (0, 0)]] * 2
