"""Two processes, one with short sequences and one with long ones, and the gradients their optimizers get."""

from __future__ import annotations

import contextlib
import os
import pickle
import socket
import tempfile
from pathlib import Path

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import gradledger
from peers.recorder import Gradients, Recorder
from peers.task import Task


def hand(task: Task, seen: list[Gradients]) -> None:
    """DDP, no_sync() but for the last micro-batch, mean losses divided by N."""
    model = DistributedDataParallel(task.model())
    optimizer = Recorder(model.parameters(), seen)
    for index, (x, y) in enumerate(task.loader()):
        last = (index + 1) % task.every == 0
        with contextlib.nullcontext() if last else model.no_sync():
            (task.loss(model(x), y) / task.every).backward()
        if last:
            optimizer.step()
            optimizer.zero_grad()


def accelerate(task: Task, seen: list[Gradients]) -> None:
    """Each rank has its own loader, so only model and optimizer are prepared."""
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=task.every)
    model = task.model()
    model, optimizer = accelerator.prepare(model, Recorder(model.parameters(), seen))
    for x, y in task.loader():
        with accelerator.accumulate(model):
            accelerator.backward(task.loss(model(x), y))
            optimizer.step()
            optimizer.zero_grad()


def ours(task: Task, seen: list[Gradients]) -> None:
    """The same script as on one process, with the model in DDP."""
    model = DistributedDataParallel(task.model())
    acc = gradledger.Accumulator(model, Recorder(model.parameters(), seen), every=task.every)
    for x, y in acc.batches(task.loader()):
        acc.backward(task.loss(model(x), y), count=task.count(y))


WAYS = {"hand": hand, "accelerate": accelerate, "gradledger": ours}


def _take_part(rank: int, port: int, folder: str, task: Task, half: int) -> None:
    torch.set_num_threads(1)
    place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "2"}
    os.environ |= place | {"RANK": str(rank), "LOCAL_RANK": str(rank)}
    dist.init_process_group("gloo")
    part = slice(0, half) if rank == 0 else slice(half, None)
    mine = Task(**{**vars(task), "data": tuple(each[part] for each in task.data)})
    found: dict[str, list[Gradients]] = {}
    for name, way in WAYS.items():
        found[name] = []
        way(mine, found[name])
    if rank == 0:
        (Path(folder) / "found").write_bytes(pickle.dumps(found))
    dist.barrier()
    dist.destroy_process_group()


def run(task: Task, half: int) -> dict[str, list[Gradients]]:
    """Start both; the first `half` samples are those of rank 0."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(_take_part, (port, folder, task, half), nprocs=2)
        return pickle.loads((Path(folder) / "found").read_bytes())  # type: ignore[no-any-return]
