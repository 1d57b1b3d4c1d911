"""fp16, bf16, scalers, wide accumulation, fused optimizers."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import gradledger
from tests.engine.models import samples, small_model


def single(seed: int = 0) -> nn.Module:
    return small_model(seed).float()


def data(number: int = 27):
    x, y = samples(number)
    return x.float(), y.float()


def by_hand(model, optimizer, scaler, x, y, sizes, clip) -> list[bool]:
    """The careful loop: scaled, unscaled, divided, clipped, stepped; True where the step was made."""
    total = sum(sizes)
    for a, b in zip(x.split(sizes), y.split(sizes), strict=True):
        with torch.autocast("cpu", torch.float16):
            loss = F.mse_loss(model(a), b)
        scaler.scale(loss * len(a) / total).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
    before = scaler.get_scale()
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
    return scaler.get_scale() >= before


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("handed_in", [False, True])
def test_fp16_with_overflows_follows_the_careful_loop(fused: bool, handed_in: bool) -> None:
    """A scale far too large at first: some windows are skipped, on both sides the same ones."""
    x, y = data(32)
    sizes = [8, 8, 8, 8]
    model, reference = single(), single()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, fused=fused)
    oracle = torch.optim.AdamW(reference.parameters(), lr=0.01, fused=fused)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.9)
    theirs = torch.amp.GradScaler("cpu", init_scale=2.0**18, growth_interval=5)
    mine = torch.amp.GradScaler("cpu", init_scale=2.0**18, growth_interval=5)
    shared = torch.optim.lr_scheduler.StepLR(oracle, 1, 0.9)
    options = {"scaler": mine} if handed_in else {}
    acc = gradledger.Accumulator(
        model, optimizer, every=4, clip_norm=0.5, precision="fp16", scheduler=schedule, **options
    )
    if not handed_in:
        acc._cycle.scaling.scaler.load_state_dict(mine.state_dict())
    made, expected = [], []
    for _ in range(16):
        for a, b in acc.batches(list(zip(x.split(sizes), y.split(sizes), strict=True))):
            with acc.precision():
                loss = F.mse_loss(model(a), b)
            update = acc.backward(loss, count=len(a))
        made.append(update.applied)
        expected.append(by_hand(reference, oracle, theirs, x, y, sizes, 0.5))
        if expected[-1]:
            shared.step()
    assert made == expected
    assert False in made
    assert True in made
    assert acc.step == sum(made)
    assert acc._cycle.scaling.scaler.get_scale() == theirs.get_scale()
    assert schedule.get_last_lr() == pytest.approx(shared.get_last_lr())
    for p, q in zip(model.parameters(), reference.parameters(), strict=True):
        assert torch.allclose(p, q, rtol=2e-3, atol=2e-4)


def test_large_counts_do_not_overflow_fp16() -> None:
    """Counts enter in a unit near them: a million tokens need no smaller scale than one."""
    x, _ = data(8)
    model = single()
    acc = gradledger.Accumulator(
        model, torch.optim.SGD(model.parameters(), lr=0.1), every=2, precision="fp16"
    )
    for part in (x[:4], x[4:]):
        with acc.precision():
            loss = model(part).square().mean()
        update = acc.backward(loss, count=10**6)
    assert update.applied
    assert update.count == 2 * 10**6


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW"])
@pytest.mark.parametrize("clip", [None, 0.1])
def test_a_fused_optimizer_is_given_the_factor(name: str, clip: float | None) -> None:
    x, y = data()
    models = [single(), single()]
    for fused, model in zip((True, False), models, strict=True):
        optimizer = getattr(torch.optim, name)(model.parameters(), lr=0.01, fused=fused)
        acc = gradledger.Accumulator(model, optimizer, every=4, clip_norm=clip)
        for _ in range(3):
            for a, b in acc.batches(list(zip(x.split(8), y.split(8), strict=True))):
                acc.backward(F.mse_loss(model(a), b), count=len(a))
        assert not hasattr(optimizer, "grad_scale")
    for p, q in zip(*(model.parameters() for model in models), strict=True):
        assert torch.allclose(p, q, rtol=1e-5, atol=1e-6)


@pytest.mark.skipif(not hasattr(torch.nn.Parameter, "grad_dtype"), reason="came with torch 2.9")
@pytest.mark.parametrize("make", [torch.optim.AdamW, torch.optim.SGD])
def test_bf16_gradients_are_summed_in_float32(make) -> None:
    """64 micro-batches: the window's gradient is the float32 sum, handed over in the parameters' own type."""
    x, _ = data(64)
    seen: dict[bool, torch.Tensor] = {}
    exact = None
    for wide in (False, True):
        torch.manual_seed(0)
        model = nn.Linear(3, 1).bfloat16()
        optimizer = make(model.parameters(), lr=0.01)
        acc = gradledger.Accumulator(
            model, optimizer, every=64, accumulate_in=torch.float32 if wide else None
        )
        grads = []
        for sample in x.bfloat16().split(1):
            loss = model(sample).square().mean()
            grads.append(torch.autograd.grad(loss, model.weight, retain_graph=True)[0].double())
            seen[wide] = model.weight.grad.detach().clone() if model.weight.grad is not None else None
            update = acc.backward(loss, count=1)
        exact = torch.stack(grads[:-1]).sum(0) / 64  # in the unit of the window
        assert update.applied
        assert model.weight.grad is None

    def error(got):
        return float((got.double() - exact).norm() / exact.norm())

    assert seen[True].dtype == torch.float32
    assert error(seen[True]) < 1e-6 < 1e-3 < error(seen[False])


def test_bf16_autocast() -> None:
    x, y = data()
    model = single()
    acc = gradledger.Accumulator(
        model, torch.optim.AdamW(model.parameters()), every=4, precision="bf16", clip_norm=1.0
    )
    for a, b in acc.batches(list(zip(x.split(8), y.split(8), strict=True))):
        with acc.precision():
            out = model(a)
            assert out.dtype == torch.bfloat16
            loss = F.mse_loss(out.float(), b)
        update = acc.backward(loss, count=len(a))
    assert update.applied
    assert math.isfinite(update.grad_norm)


def test_a_half_precision_loss_carries_the_scale() -> None:
    model = single()
    acc = gradledger.Accumulator(model, torch.optim.SGD(model.parameters(), lr=0.1), precision="fp16")
    x, _ = data(4)
    outcomes = []
    for _ in range(3):
        with acc.precision():
            loss = model(x).mean()
        assert loss.dtype == torch.float16
        outcomes.append(acc.backward(loss, count=4).outcome)
    # The first scale, 65536, is more than fp16 can hold.
    assert outcomes == ["skipped_nonfinite", "applied", "applied"]


def test_accumulators_may_share_a_scaler() -> None:
    """A window keeps the scale it was opened with, whoever moves the scaler in between."""
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=1)
    x, y = data(8)
    model, other = single(), single(1)
    slow = gradledger.Accumulator(model, torch.optim.SGD(model.parameters(), lr=0.1), every=2, scaler=scaler)
    fast = gradledger.Accumulator(other, torch.optim.SGD(other.parameters(), lr=0.1), scaler=scaler)
    reference = single()
    slow.backward(F.mse_loss(model(x[:4]), y[:4]), count=4)
    fast.backward(F.mse_loss(other(x), y), count=8)
    assert scaler.get_scale() == 2048.0
    slow.backward(F.mse_loss(model(x[4:]), y[4:]), count=4)
    F.mse_loss(reference(x), y).backward()
    torch.optim.SGD(reference.parameters(), lr=0.1).step()
    for p, q in zip(model.parameters(), reference.parameters(), strict=True):
        assert torch.allclose(p, q, atol=1e-6)


def test_keep_buffers_clears_to_zero() -> None:
    x, y = data(8)
    model, reference = single(), single()
    acc = gradledger.Accumulator(
        model, torch.optim.SGD(model.parameters(), lr=0.1), every=2, keep_buffers=True
    )
    plain = gradledger.Accumulator(reference, torch.optim.SGD(reference.parameters(), lr=0.1), every=2)
    for _ in range(3):
        for part in (slice(0, 4), slice(4, 8)):
            acc.backward(F.mse_loss(model(x[part]), y[part]), count=4)
            plain.backward(F.mse_loss(reference(x[part]), y[part]), count=4)
        assert all(p.grad is not None and not p.grad.any() for p in model.parameters())
    assert all(torch.equal(p, q) for p, q in zip(model.parameters(), reference.parameters(), strict=True))
