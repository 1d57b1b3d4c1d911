"""A rank that dies or hangs: the others end with words, and do not wait for ever."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import torch._dynamo  # noqa: F401  # imported once for all forked processes
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import gradledger
from gradledger.parallel.collective import is_of_talking
from tests.engine.models import mean_loss, samples, sgd, small_model
from tests.faults.lives import begin

pytestmark = pytest.mark.distributed


def met(rank: int, folder: Path) -> tuple[DistributedDataParallel, gradledger.Accumulator]:
    """One of two ranks that wait three seconds for each other."""
    store = dist.FileStore(str(folder / "store"), 2)
    patience = timedelta(seconds=3)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2, timeout=patience)
    model = DistributedDataParallel(small_model())
    return model, gradledger.Accumulator(model, sgd(model), every=2)


def survived(work: Callable[[int, Path, str], Any], folder: Path, fate: str) -> Any:
    """What rank 0 gives back when rank 1 meets its fate."""
    lives = [begin(lambda _, rank=rank: work(rank, folder, fate), folder / str(rank)) for rank in (0, 1)]
    state = os.waitpid(lives[0].process, 0)[1]
    os.kill(lives[1].process, signal.SIGKILL)
    os.waitpid(lives[1].process, 0)
    assert state == 0, (folder / "0.fault").read_text()
    return pickle.loads((folder / "0").read_bytes())


def lonely(rank: int, folder: Path, fate: str) -> str:
    """Rank 1 meets its fate in the first window; what rank 0 is told when it closes that window."""
    model, acc = met(rank, folder)
    x, y = samples(4)
    acc.backward(mean_loss(model, x, y), count=4)
    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL if fate == "dies" else signal.SIGSTOP)
    with pytest.raises(gradledger.LedgerError) as refused:
        acc.backward(mean_loss(model, x, y), count=4)
    return str(refused.value)


@pytest.mark.parametrize("fate", ["dies", "hangs"])
def test_the_others_are_told(fate: str, tmp_path: Path) -> None:
    told = survived(lonely, tmp_path, fate)
    assert "rank 0 lost contact with the others: a rank has ended, hangs" in told


def overlapped(rank: int, folder: Path, fate: str) -> tuple[str, str]:
    """The same where DDP itself reduces, inside the backward: what rank 0 is told, and what torch said."""
    model, acc = met(rank, folder)
    x, y = samples(4)
    for number, _ in enumerate(acc.batches([0] * 4)):
        loss = mean_loss(model, x, y)
        if number < 3:
            acc.backward(loss, count=4)
            continue
        assert model.require_backward_grad_sync  # this backward will reduce
        if rank == 1:
            os.kill(os.getpid(), signal.SIGKILL if fate == "dies" else signal.SIGSTOP)
        with pytest.raises(gradledger.LedgerError) as refused:
            acc.backward(loss, count=4)
        acc.discard()
        return str(refused.value), str(refused.value.__cause__)
    raise AssertionError("no fourth batch")


@pytest.mark.parametrize("fate", ["dies", "hangs"])
def test_the_others_are_told_where_ddp_reduces(fate: str, tmp_path: Path) -> None:
    told, cause = survived(overlapped, tmp_path, fate)
    assert told.startswith("rank 0 lost contact with the others: a rank has ended, hangs")
    assert cause.splitlines()[0] in told


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            RuntimeError("[../gloo/transport/tcp/pair.cc:534] Connection closed by peer"),
            True,
        ),
        (RuntimeError("NCCL error: remote process exited or there was a network error"), True),
        (dist.DistBackendError("Watchdog caught collective operation timeout"), True),
        (RuntimeError("Trying to backward through the graph a second time"), False),
        (ValueError("gloo"), False),
    ],
)
def test_an_error_of_the_program_is_not_taken_for_one_of_talking(error: Exception, said: bool) -> None:
    assert is_of_talking(error) is said
