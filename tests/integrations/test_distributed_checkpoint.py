"""An accumulator in a checkpoint of torch.distributed.checkpoint, in the middle of a window, on two ranks."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
import torch
import torch._dynamo  # torch imports it at the first optimizer; here once for all forked ranks
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.optim import Optimizer

import gradledger
from gradledger.integrations.distributed_checkpoint import Stateful
from tests.engine.models import adamw, cut, mean_loss, samples
from tests.parallel.test_ranks import weights, wrapped
from tests.replicas import together

pytestmark = pytest.mark.distributed


def made(kind: str) -> tuple[torch.nn.Module, Optimizer, gradledger.Accumulator]:
    torch.manual_seed(0)
    model = wrapped(kind)
    optimizer = adamw(model)
    return model, optimizer, gradledger.Accumulator(model, optimizer, every=3, clip_norm=1.0)


def interrupted(rank: int, kind: str, folder: str, later: bool) -> tuple[bool, int, list[bool]]:
    """Five uneven micro-batches in windows of three: without a break, and saved after the fourth."""
    x, y = samples(24)
    sizes = [[2, 3, 1, 4, 2], [1, 2, 4, 3, 2]][rank]
    share = slice(rank * 12, rank * 12 + 12)
    mine = list(cut(x[share], y[share], sizes))
    whole, _, acc = made(kind)
    for a, b in mine:
        acc.backward(mean_loss(whole, a, b), count=len(a))
    acc.flush()
    model, optimizer, acc = made(kind)
    for a, b in mine[:4]:
        acc.backward(mean_loss(model, a, b), count=len(a))
    states = dict(zip(("model", "optimizer"), get_state_dict(model, optimizer), strict=True))
    content = {**states, "accumulator": Stateful(acc)}
    if later:
        # A group of its own: training goes on, and talks on the other one.
        saving = dcp.async_save(content, checkpoint_id=folder, process_group=dist.new_group(backend="gloo"))
        acc.backward(mean_loss(model, *mine[4]), count=2)  # what comes afterwards is not in it
        saving.result()
    else:
        dcp.save(content, checkpoint_id=folder)
    acc.discard()
    model, optimizer, acc = made(kind)
    states = dict(zip(("model", "optimizer"), get_state_dict(model, optimizer), strict=True))
    content = {**states, "accumulator": Stateful(acc)}
    dcp.load(content, checkpoint_id=folder)
    set_state_dict(model, optimizer, model_state_dict=content["model"], optim_state_dict=content["optimizer"])
    waiting = acc.waiting
    acc.backward(mean_loss(model, *mine[4]), count=2)
    acc.flush()
    return (
        waiting == 1,
        acc.step,
        [torch.equal(p, q) for p, q in zip(weights(whole), weights(model), strict=True)],
    )


@pytest.mark.parametrize("later", [False, True], ids=["save", "async_save"])
@pytest.mark.parametrize("kind", ["ddp", "fsdp2"])
def test_a_window_goes_on_bit_by_bit(kind: str, later: bool, tmp_path: Path) -> None:
    for waiting, steps, same in together(partial(interrupted, kind=kind, folder=str(tmp_path), later=later)):
        assert (waiting, steps) == (True, 2)
        assert all(same)


def test_one_process_and_strangers() -> None:
    model = torch.nn.Linear(3, 1)
    acc = gradledger.Accumulator(model, adamw(model), every=3)
    acc.backward(model(torch.ones(2, 3)).mean(), count=2)
    state = Stateful(acc).state_dict()
    acc.discard()
    Stateful(acc).load_state_dict(state)
    assert acc.waiting == 1
    acc.discard()
    with pytest.raises(ValueError, match="holds no accumulator of rank0"):
        Stateful(acc).load_state_dict({"rank1": state["rank0"]})
