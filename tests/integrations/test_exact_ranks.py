"""Exact windows of Lightning and the Trainer on two unequal ranks, against one batch in float64."""

from __future__ import annotations

import copy
import os
import tempfile
from typing import Any

import pytest
import torch
import torch._dynamo  # torch imports it at the first optimizer; here once for all forked ranks
from torch import Tensor, nn
from torch.utils.data import DataLoader

import gradledger.integrations.lightning
import gradledger.integrations.transformers
from tests.integrations.test_lightning import Tokens, fit, token_loss
from tests.integrations.test_transformers import WithKeywords, trainer_of
from tests.replicas import together

pytestmark = [pytest.mark.distributed, pytest.mark.libraries]

SIZES = [[4, 2, 1, 3], [1, 3, 2, 2]]


def batches(rank: int) -> list[dict[str, Tensor]]:
    generator = torch.Generator().manual_seed(rank)
    found = []
    for size in SIZES[rank]:
        ids = torch.randint(0, 16, (size, 6), generator=generator)
        labels = ids.clone()
        labels[:, 1 + size :] = -100
        found.append({"ids": ids, "labels": labels})
    return found


def as_started_by_torchrun(rank: int) -> None:
    os.environ.update(
        TORCHELASTIC_RUN_ID="none",
        RANK=str(rank),
        LOCAL_RANK=str(rank),
        WORLD_SIZE="2",
        LOCAL_WORLD_SIZE="2",
        GROUP_RANK="0",
        MASTER_ADDR="127.0.0.1",
        MASTER_PORT="29500",
    )


def wide_weights(net: nn.Module, loss: Any, windows: list[Any], rate: float) -> list[Tensor]:
    """The weights after one step of SGD for each window, in double precision."""
    wide = copy.deepcopy(net).double()
    for window in windows:
        gradients = torch.autograd.grad(loss(wide, window), list(wide.parameters()))
        for p, gradient in zip(wide.parameters(), gradients, strict=True):
            p.data -= rate * gradient
    return [p.detach() for p in wide.parameters()]


def joined(parts: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    return {key: torch.cat([part[key] for part in parts]) for key in parts[0]}


def error(net: nn.Module, wanted: list[Tensor]) -> float:
    pairs = zip(net.parameters(), wanted, strict=True)
    return max(float((p.detach() - other).norm() / other.norm()) for p, other in pairs)


def in_lightning(rank: int) -> float:
    as_started_by_torchrun(rank)
    torch.manual_seed(0)
    module = Tokens()
    windows = [joined([b for r in (0, 1) for b in batches(r)[start : start + 2]]) for start in (0, 2)]
    wanted = wide_weights(module.net, token_loss, windows, 0.1)
    audit = gradledger.integrations.lightning.GradientAudit(fail=True)
    fit(
        module,
        audit,
        gradledger.integrations.lightning.ExactWindows(),
        loader=DataLoader(batches(rank), batch_size=None),
        strategy="ddp",
        devices=2,
        use_distributed_sampler=False,
        accumulate_grad_batches=2,
    )
    assert audit.findings == ()
    return error(module.net, wanted)


def in_the_trainer(rank: int) -> float:
    as_started_by_torchrun(rank)
    torch.manual_seed(0)
    model = WithKeywords()
    start = copy.deepcopy(model)
    trainer = trainer_of(tempfile.mkdtemp(), model, max_steps=2, ddp_backend="gloo")
    assert trainer.args.world_size == 2
    gradledger.integrations.transformers.exact(trainer)
    taken: list[dict[str, Tensor]] = []
    step = trainer.training_step
    trainer.training_step = lambda m, inputs, *more: taken.append(dict(inputs)) or step(m, inputs, *more)
    trainer.train()
    everyone: list[Any] = [None, None]
    torch.distributed.all_gather_object(everyone, taken)
    every = trainer.args.gradient_accumulation_steps
    windows = [
        joined([b for mine in everyone for b in mine[at : at + every]]) for at in range(0, len(taken), every)
    ]
    wanted = wide_weights(start, lambda net, window: net(**window)["loss"], windows, 5e-3)
    return error(model, wanted)


@pytest.mark.parametrize("work", [in_lightning, in_the_trainer])
def test_unequal_ranks_are_exact(work: Any) -> None:
    assert max(together(work)) < 1e-6
