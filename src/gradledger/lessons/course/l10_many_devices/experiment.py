"""Trains on two real processes and compares their gradients and weights with each other and with one."""

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook
from torch.nn.parallel import DistributedDataParallel

from gradledger.lessons.course.arithmetic import descend
from gradledger.lessons.course.l10_many_devices.processes import on_two_ranks


def average():
    """Two processes, the same weights, different samples, one all-reduce."""

    def both(rank):
        torch.manual_seed(0)
        model = nn.Linear(3, 1, bias=False).double()
        samples = torch.randn(8, 3).double()
        model(samples[rank::2]).square().mean().backward()
        alone = model.weight.grad.tolist()[0]
        dist.all_reduce(model.weight.grad)  # now it holds the sum of both
        model.weight.grad /= dist.get_world_size()
        return {"alone": alone, "mean": model.weight.grad.tolist()[0]}

    first, second = on_two_ranks(both)
    for name, values in (
        ("rank 0 alone", first["alone"]),
        ("rank 1 alone", second["alone"]),
        ("rank 0 after", first["mean"]),
        ("rank 1 after", second["mean"]),
    ):
        print(f"{name}: ", *(f"{v:+.4f}" for v in values))

    torch.manual_seed(0)
    model = nn.Linear(3, 1, bias=False).double()
    samples = torch.randn(8, 3).double()
    model(samples).square().mean().backward()
    whole = model.weight.grad[0]
    print("all samples:  ", *(f"{v:+.4f}" for v in whole.tolist()))
    mean = torch.tensor(first["mean"], dtype=torch.float64)
    off = (whole - mean).abs().max().item()
    print(f"largest difference: {off:.0e}")
    return {"off": off, "same": off < 1e-12}


def reductions():
    """DDP over a window of four: how often do the processes talk?"""

    def both(rank):
        counts, grads = [], []
        for deferred in (False, True):
            torch.manual_seed(0)
            replica = DistributedDataParallel(nn.Linear(3, 1).double())
            talks = []

            def counting(state, bucket, talks=talks):
                talks.append(1)
                return allreduce_hook(state, bucket)

            replica.register_comm_hook(None, counting)
            samples = torch.randn(4, 2, 5, 3).double()[:, rank]
            for i, part in enumerate(samples):
                if deferred and i < 3:
                    with replica.no_sync():
                        (replica(part).square().mean() / 4).backward()
                else:
                    (replica(part).square().mean() / 4).backward()
            counts.append(len(talks))
            grads.append(replica.module.weight.grad)
        apart = (grads[0] - grads[1]).abs().max().item()
        return {"counts": counts, "apart": apart}

    first, _ = on_two_ranks(both)
    every, deferred = first["counts"]
    print(f"every backward reduces:  {every} exchanges")
    print(f"with no_sync():          {deferred} exchange")
    print(f"difference between the gradients: {first['apart']:.0e}")
    return {"every": every, "deferred": deferred, "apart": first["apart"]}


def one_rank_forgets():
    """Rank 1 never clears. What happens to the replicas?"""

    def both(rank):
        weights = []
        for forget in (True, False):
            torch.manual_seed(0)
            replica = DistributedDataParallel(nn.Linear(3, 1))
            optimizer = torch.optim.SGD(replica.parameters(), lr=0.05)
            samples = torch.randn(10, 2, 8, 3)[:, rank]
            for part in samples:
                if not forget or rank == 0:
                    optimizer.zero_grad()
                error = replica(part) - part.sum(1, keepdim=True)
                error.square().mean().backward()
                optimizer.step()
            weights.append(replica.module.weight[0].tolist())
        return weights

    first, second = (torch.tensor(weights) for weights in on_two_ranks(both))
    between = (first[0] - second[0]).abs().max().item()
    off = (first[0] - first[1]).norm().item()
    print(f"difference between the replicas:      {between:g}")
    print(f"rank 0's distance from a right run:   {off:.3f}")
    return {"between": between, "off": off}


def one_rank_clears_late():
    """Rank 1 clears between backward and step, once, in the third of ten rounds."""

    def both(rank):
        torch.manual_seed(0)
        replica = DistributedDataParallel(nn.Linear(3, 1))
        optimizer = torch.optim.SGD(replica.parameters(), lr=0.05)
        weights = []
        for i, part in enumerate(torch.randn(10, 2, 8, 3)[:, rank]):
            optimizer.zero_grad()
            error = replica(part) - part.sum(1, keepdim=True)
            error.square().mean().backward()
            if rank == 1 and i == 2:
                optimizer.zero_grad()
            optimizer.step()
            weights.append(replica.module.weight[0].tolist())
        return weights

    first, second = (torch.tensor(weights) for weights in on_two_ranks(both))
    apart = (first - second).norm(dim=1).tolist()
    print("distance between the replicas, round by round:")
    print(*(f"{value:.4f}" for value in apart))
    return {"apart": apart, "last": apart[-1], "heals": apart[-1] < 1e-6}


def unsynced_step():
    """A step on a window that ran under no_sync() from first to last."""

    def both(rank):
        torch.manual_seed(0)
        replica = DistributedDataParallel(nn.Linear(3, 1))
        optimizer = torch.optim.SGD(replica.parameters(), lr=0.05)
        weights = []
        samples = torch.randn(6, 4, 2, 8, 3)[:, :, rank]
        torch.manual_seed(rank)  # each process draws its own noise
        for window in samples:
            with replica.no_sync():
                for part in window:
                    wanted = part.sum(1, keepdim=True) + torch.randn(8, 1)
                    error = replica(part) - wanted
                    (error.square().mean() / 4).backward()
            optimizer.step()
            optimizer.zero_grad()
            weights.append(replica.module.weight[0].tolist())
        return weights

    first, second = (torch.tensor(weights) for weights in on_two_ranks(both))
    apart = (first - second).norm(dim=1).tolist()
    print("distance between the replicas, update by update:")
    print(*(f"{value:.3f}" for value in apart))
    return {"apart": apart, "last": apart[-1]}


def _reference():
    torch.manual_seed(0)
    model = nn.Linear(10, 1)
    x = torch.randn(128, 10)
    y = (x @ torch.randn(10, 1)).double()
    pairs = list(zip(x.double().split(32), y.split(32), strict=True))
    losses = [lambda m, x=x, y=y: (m(x) - y).square().mean() for _ in range(5) for x, y in pairs]
    return descend(model, losses, lr=0.05)
