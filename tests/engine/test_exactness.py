"""Whatever the split: the update is the full batch's, computed by torch in double precision."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional as F

import gradledger
from tests.engine.models import (
    adamw,
    cut,
    distance,
    full_batch_step,
    mean_loss,
    samples,
    sgd,
    small_model,
)

SIZES = st.lists(st.integers(1, 9), min_size=1, max_size=9)


def windows(sizes: list[int], lengths: list[int]) -> Iterator[list[int]]:
    """Sizes grouped into windows of these lengths, the last perhaps short."""
    rest, number = list(sizes), 0
    while rest:
        length = lengths[number % len(lengths)]
        yield rest[:length]
        rest, number = rest[length:], number + 1


@settings(deadline=None, max_examples=60)
@given(
    sizes=SIZES,
    lengths=st.lists(st.integers(1, 4), min_size=1, max_size=3),
    clip=st.sampled_from([None, 0.05, 5.0]),
    make=st.sampled_from([sgd, adamw]),
    epochs=st.integers(1, 2),
    sized=st.booleans(),
)
def test_any_split_equals_the_full_batch(
    sizes: list[int], lengths: list[int], clip: float | None, make, epochs: int, sized: bool
) -> None:
    x, y = samples(sum(sizes))
    model, reference = small_model(), small_model()
    optimizer, oracle = make(model), make(reference)
    per_epoch = list(windows(sizes, lengths))
    flat = [length for _ in range(epochs) for length in (lengths * 9)[: len(per_epoch)]]
    acc = gradledger.Accumulator(model, optimizer, every=lambda done: flat[done], clip_norm=clip)
    updates = []
    for _ in range(epochs):
        batches = cut(x, y, sizes)
        for a, b in acc.batches(batches if sized else iter(batches)):
            update = acc.backward(mean_loss(model, a, b), count=len(a))
            if update:
                updates.append(update)
    norms = []
    for _ in range(epochs):
        start = 0
        for window in per_epoch:
            inside = slice(start, start + sum(window))
            norms.append(full_batch_step(reference, oracle, x[inside], y[inside], clip))
            start = inside.stop
    assert distance(model, reference) <= 1e-10
    assert [u.grad_norm for u in updates] == pytest.approx(norms, rel=1e-9)
    assert [u.micro_batches for u in updates] == [len(w) for w in per_epoch] * epochs
    assert acc.waiting == 0


@settings(deadline=None, max_examples=30)
@given(sizes=SIZES, every=st.integers(1, 5))
def test_sums_with_counts_equal_the_mean_of_everything(sizes: list[int], every: int) -> None:
    x, y = samples(sum(sizes))
    model, reference = small_model(), small_model()
    optimizer, oracle = sgd(model), sgd(reference)
    acc = gradledger.Accumulator(model, optimizer, every=every, reduction="sum")
    for a, b in acc.batches(cut(x, y, sizes)):
        acc.backward(F.mse_loss(model(a), b, reduction="sum"), count=len(a))
    start = 0
    for window in windows(sizes, [every]):
        inside = slice(start, start + sum(window))
        full_batch_step(reference, oracle, x[inside], y[inside])
        start = inside.stop
    assert distance(model, reference) <= 1e-10


@settings(deadline=None, max_examples=30)
@given(kept=st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=1, max_size=6))
def test_tokens_that_are_ignored_do_not_count(kept: list[list[bool]]) -> None:
    """A micro-batch without a single token is NaN by itself and must not matter."""
    x, y = samples(3 * len(kept))
    mask = torch.tensor(kept).reshape(-1)
    model, reference = small_model(), small_model()
    optimizer, oracle = sgd(model), sgd(reference)

    def masked(which, a: Tensor, b: Tensor, m: Tensor) -> Tensor:
        return ((which(a) - b).square().squeeze(1) * m).sum() / m.sum()

    acc = gradledger.Accumulator(model, optimizer, every=len(kept))
    with pytest.warns(RuntimeWarning, match="add up to 0") if not mask.any() else no_warning():
        for a, b, m in zip(x.split(3), y.split(3), mask.split(3), strict=True):
            update = acc.backward(masked(model, a, b, m), count=m.sum())
    if mask.any():
        assert update.outcome == "applied"
        masked(reference, x, y, mask).backward()
        oracle.step()
    else:
        assert update.outcome == "skipped_empty"
    assert distance(model, reference) <= 1e-10


def no_warning():
    import contextlib

    return contextlib.nullcontext()


@settings(deadline=None, max_examples=30)
@given(tokens=st.lists(st.integers(1, 7), min_size=1, max_size=6), clip=st.sampled_from([None, 0.1]))
def test_every_term_has_its_own_denominator(tokens: list[int], clip: float | None) -> None:
    x, y = samples(sum(tokens))
    model, reference = small_model(), small_model()
    optimizer, oracle = adamw(model), adamw(reference)
    acc = gradledger.Accumulator(model, optimizer, every=len(tokens), clip_norm=clip)
    for a, b in cut(x, y, tokens):
        out = model(a)
        update = acc.backward({"lm": (F.mse_loss(out, b), len(a)), "aux": (out.mean().square(), 1)})
    everything = F.mse_loss(reference(x), y)
    aux = sum(reference(a).mean().square() for a, _ in cut(x, y, tokens)) / len(tokens)
    (everything + aux).backward()
    if clip is not None:
        torch.nn.utils.clip_grad_norm_(reference.parameters(), clip)
    oracle.step()
    assert update.applied
    assert update.loss == pytest.approx(float((everything + aux).detach()), rel=1e-9)
    assert distance(model, reference) <= 1e-10


@settings(deadline=None, max_examples=30)
@given(sizes=SIZES, target=st.integers(1, 20))
def test_windows_close_when_enough_is_inside(sizes: list[int], target: int) -> None:
    x, y = samples(sum(sizes))
    model, reference = small_model(), small_model()
    optimizer, oracle = sgd(model), sgd(reference)
    acc = gradledger.Accumulator(model, optimizer, target_count=target)
    counts = []
    for a, b in acc.batches(cut(x, y, sizes)):
        update = acc.backward(mean_loss(model, a, b), count=len(a))
        if update:
            counts.append(int(update.count))
    assert sum(counts) == sum(sizes)
    assert all(count >= target for count in counts[:-1])
    start = 0
    for count in counts:
        full_batch_step(reference, oracle, x[start : start + count], y[start : start + count])
        start += count
    assert distance(model, reference) <= 1e-10


def test_a_window_may_hold_plain_losses_and_terms() -> None:
    x, y = samples(12)
    model, reference = small_model(), small_model()
    optimizer, oracle = sgd(model), sgd(reference)
    acc = gradledger.Accumulator(model, optimizer, every=3)
    parts = cut(x, y, [5, 4, 3])
    acc.backward(mean_loss(model, *parts[0]), count=5)
    acc.backward({"extra": (mean_loss(model, *parts[1]), 4)})
    acc.backward(mean_loss(model, *parts[2]), count=3)
    plain = (5 * mean_loss(reference, *parts[0]) + 3 * mean_loss(reference, *parts[2])) / 8
    (plain + mean_loss(reference, *parts[1])).backward()
    oracle.step()
    assert distance(model, reference) <= 1e-10


def test_the_test_can_fail() -> None:
    """Equal weights for unequal micro-batches, as most libraries have them, are far off."""
    x, y = samples(27)
    model, reference = small_model(), small_model()
    optimizer, oracle = sgd(model), sgd(reference)
    acc = gradledger.Accumulator(model, optimizer, every=4)
    for a, b in cut(x, y, [8, 8, 8, 3]):
        acc.backward(mean_loss(model, a, b), count=1)
    full_batch_step(reference, oracle, x, y)
    assert distance(model, reference) > 1e-3


@pytest.mark.parametrize("make", [sgd, adamw])
def test_equal_micro_batches_need_not_differ_by_a_bit_from_a_careful_loop(make) -> None:
    """The unit is a power of two: weighing changes no bit."""
    x, y = samples(32)
    model, reference = small_model(), small_model()
    optimizer, oracle = make(model), make(reference)
    acc = gradledger.Accumulator(model, optimizer, every=4)
    for a, b in acc.batches(cut(x, y, [8] * 4)):
        acc.backward(mean_loss(model, a, b), count=len(a))
    for a, b in cut(x, y, [8] * 4):
        mean_loss(reference, a, b).backward()
    for p in reference.parameters():
        p.grad.mul_(0.25)
    oracle.step()
    assert distance(model, reference) == 0


def test_clipping_by_value_and_by_group() -> None:
    x, y = samples(12)

    def grouped(model):
        first, second = model[0].parameters(), model[2].parameters()
        return torch.optim.SGD([{"params": first}, {"params": second, "lr": 0.3}], lr=0.1)

    for options in ({"clip_value": 0.02}, {"clip_norm": (0.03, 0.2)}):
        model, reference = small_model(), small_model()
        optimizer, oracle = grouped(model), grouped(reference)
        acc = gradledger.Accumulator(model, optimizer, every=3, **options)
        for a, b in cut(x, y, [5, 5, 2]):
            acc.backward(mean_loss(model, a, b), count=len(a))
        mean_loss(reference, x, y).backward()
        if "clip_value" in options:
            torch.nn.utils.clip_grad_value_(reference.parameters(), 0.02)
        else:
            torch.nn.utils.clip_grad_norm_(reference[0].parameters(), 0.03)
            torch.nn.utils.clip_grad_norm_(reference[2].parameters(), 0.2)
        oracle.step()
        assert distance(model, reference) <= 1e-10
