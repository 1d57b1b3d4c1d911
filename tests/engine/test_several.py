"""Several optimizers, models, schedulers."""

from __future__ import annotations

import copy
import warnings

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import gradledger
from tests.engine.models import cut, full_batch_step, mean_loss, same_bits, samples, sgd, small_model


def gan() -> tuple[nn.Module, nn.Module]:
    torch.manual_seed(3)
    make = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 3)).double()
    judge = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1)).double()
    return make, judge


def test_a_gan_equals_two_loops_by_hand() -> None:
    """Windows of 3 and 2, interleaved, nothing frozen: neither backward lands in the other's parameters."""
    noise = torch.randn(24, 4, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    real, _ = samples(24 * 4)
    real = real.reshape(24, 4, 3)
    make, judge = gan()
    acc_make = gradledger.Accumulator(make, torch.optim.Adam(make.parameters(), lr=0.01), every=3)
    acc_judge = gradledger.Accumulator(judge, torch.optim.Adam(judge.parameters(), lr=0.02), every=2)
    make2, judge2 = gan()
    by_make = torch.optim.Adam(make2.parameters(), lr=0.01)
    by_judge = torch.optim.Adam(judge2.parameters(), lr=0.02)

    def judged(model, a, b):
        return F.softplus(-model(a)).mean() + F.softplus(model(b)).mean()

    held_judge = [torch.zeros_like(p) for p in judge2.parameters()]
    held_make = [torch.zeros_like(p) for p in make2.parameters()]
    for number, (z, x) in enumerate(zip(noise, real, strict=True), 1):
        acc_judge.backward(judged(judge, x, make(z)), count=4)
        acc_make.backward(F.softplus(-judge(make(z))).mean(), count=4)

        grads = torch.autograd.grad(judged(judge2, x, make2(z)), list(judge2.parameters()))
        for sum_, g in zip(held_judge, grads, strict=True):
            sum_ += g / 2
        if number % 2 == 0:
            step(by_judge, judge2, held_judge)
        grads = torch.autograd.grad(F.softplus(-judge2(make2(z))).mean(), list(make2.parameters()))
        for sum_, g in zip(held_make, grads, strict=True):
            sum_ += g / 3
        if number % 3 == 0:
            step(by_make, make2, held_make)
    assert (acc_make.step, acc_judge.step) == (8, 12)
    for mine, theirs in ((make, make2), (judge, judge2)):
        for p, q in zip(mine.parameters(), theirs.parameters(), strict=True):
            assert torch.allclose(p, q, rtol=0, atol=1e-10)


def step(optimizer, model, held) -> None:
    for p, g in zip(model.parameters(), held, strict=True):
        p.grad = g.clone()
        g.zero_()
    optimizer.step()


def test_isolation_can_be_asked_for_and_refused() -> None:
    make, judge = gan()
    z = torch.randn(4, 2, dtype=torch.float64)
    alone = gradledger.Accumulator(make, torch.optim.SGD(make.parameters(), lr=0.1), isolate=True)
    alone.backward(judge(make(z)).mean(), count=4)
    assert all(p.grad is None for p in judge.parameters())
    alone.close()
    alone = gradledger.Accumulator(make, torch.optim.SGD(make.parameters(), lr=0.1), isolate=False)
    alone.backward(judge(make(z)).mean(), count=4)
    assert all(p.grad is not None for p in judge.parameters())


def test_several_optimizers_step_together() -> None:
    x, y = samples(12)
    model, reference = small_model(), small_model()
    acc = gradledger.Accumulator(
        model, [sgd(model[0]), torch.optim.Adam(model[2].parameters(), lr=0.1)], every=3, clip_norm=0.1
    )
    for a, b in acc.batches(cut(x, y, [5, 5, 2])):
        acc.backward(mean_loss(model, a, b), count=len(a))
    first, second = sgd(reference[0]), torch.optim.Adam(reference[2].parameters(), lr=0.1)
    mean_loss(reference, x, y).backward()
    torch.nn.utils.clip_grad_norm_(reference.parameters(), 0.1)
    first.step()
    second.step()
    assert all(torch.allclose(p, q) for p, q in zip(model.parameters(), reference.parameters(), strict=True))


@pytest.mark.filterwarnings("error")
def test_schedules_follow_applied_updates_and_epochs() -> None:
    x, y = samples(20)
    model = small_model()
    optimizer = sgd(model)
    each = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0, factor=0.1)
    per_epoch = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
    acc = gradledger.Accumulator(
        model, optimizer, every=2, scheduler=each, epoch_scheduler=[plateau, per_epoch]
    )
    rates = []
    for epoch in range(2):
        for number, (a, b) in enumerate(acc.batches(cut(x, y, [4] * 5))):
            broken = epoch == 0 and number < 2
            update = acc.backward(mean_loss(model, a, b) * (float("nan") if broken else 1.0), count=4)
            if update:
                rates.append((update.outcome, update.lr))
        acc.end_epoch(metric=1.0)
    assert [outcome for outcome, _ in rates] == ["skipped_nonfinite", *["applied"] * 5]
    assert each.last_epoch == 5
    assert per_epoch.last_epoch == 2
    assert [lr for _, lr in rates[:3]] == pytest.approx([0.1, 0.1, 0.05])
    assert plateau.num_bad_epochs == 0
    assert optimizer.param_groups[0]["lr"] == pytest.approx(0.1 * 0.5**5 * 0.5**2 * 0.1)


def test_a_plateau_needs_its_metric_and_its_place() -> None:
    model = small_model()
    optimizer = sgd(model)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
    with pytest.raises(ValueError, match="epoch_scheduler="):
        gradledger.Accumulator(model, optimizer, scheduler=plateau)
    acc = gradledger.Accumulator(model, optimizer, epoch_scheduler=plateau)
    with pytest.raises(ValueError, match="metric="):
        acc.end_epoch()


def test_listeners_hear_of_applied_updates_only() -> None:
    x, y = samples(8)
    model = small_model()
    acc = gradledger.Accumulator(model, sgd(model))
    average = torch.optim.swa_utils.AveragedModel(model)
    heard = []
    acc.on_applied(lambda update: (heard.append(update.step), average.update_parameters(model)))
    acc.backward(mean_loss(model, x, y), count=8)
    acc.backward(mean_loss(model, x, y) * float("inf"), count=8)
    acc.backward(mean_loss(model, x, y), count=8)
    assert heard == [1, 2]
    assert int(average.n_averaged) == 2


@pytest.mark.parametrize("reentrant", [True, False])
def test_activation_checkpointing(reentrant: bool) -> None:
    from torch.utils.checkpoint import checkpoint

    x, y = samples(12)
    model, reference = small_model(), small_model()
    acc = gradledger.Accumulator(model, sgd(model), every=3, isolate=None if not reentrant else False)
    for a, b in acc.batches(cut(x, y, [5, 5, 2])):
        a = a.requires_grad_()
        out = checkpoint(model, a, use_reentrant=reentrant)
        acc.backward(F.mse_loss(out, b), count=len(a))
    full_batch_step(reference, sgd(reference), x.detach(), y)
    assert all(torch.allclose(p, q) for p, q in zip(model.parameters(), reference.parameters(), strict=True))


def test_reentrant_checkpointing_cannot_be_isolated() -> None:
    from torch.utils.checkpoint import checkpoint

    x, y = samples(4)
    model = small_model()
    acc = gradledger.Accumulator(model, sgd(model), isolate=True)
    out = model[2](checkpoint(model[:2], x.requires_grad_(), use_reentrant=True))
    with pytest.raises(gradledger.LedgerError, match="use_reentrant=False"):
        acc.backward(F.mse_loss(out, y), count=4)


@pytest.mark.slow
def test_compiled_models() -> None:
    x, y = samples(12)
    model, reference = small_model(), small_model()
    compiled = torch.compile(model, backend="aot_eager")
    acc = gradledger.Accumulator(compiled, sgd(compiled), every=3)
    for a, b in acc.batches(cut(x, y, [4, 4, 4])):
        acc.backward(F.mse_loss(compiled(a), b), count=len(a))
    full_batch_step(reference, sgd(reference), x, y)
    assert all(torch.allclose(p, q) for p, q in zip(model.parameters(), reference.parameters(), strict=True))


def test_frozen_parameters_stay() -> None:
    x, y = samples(8)
    model = small_model()
    model[0].requires_grad_(False)
    before = copy.deepcopy(model[0])
    acc = gradledger.Accumulator(model, sgd(model), every=2, isolate=True)
    for a, b in acc.batches(cut(x, y, [4, 4])):
        update = acc.backward(mean_loss(model, a, b), count=4)
    assert update.applied
    assert same_bits(model[0], before)


def test_nothing_is_said_by_torch() -> None:
    x, y = samples(8)
    model = small_model()
    optimizer = sgd(model)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=10)
    acc = gradledger.Accumulator(model, optimizer, every=2, scheduler=schedule)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(4):
            for a, b in acc.batches(cut(x, y, [4, 4])):
                acc.backward(
                    mean_loss(model, a, b) * float("nan" if acc.step == 0 and a is x else 1), count=4
                )
    assert schedule.last_epoch == 4
