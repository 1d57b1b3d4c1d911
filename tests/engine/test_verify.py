"""Verification compares a window with its full batch, names the cause, and leaves no trace."""

from __future__ import annotations

import copy
import random
import warnings
from collections import namedtuple

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.utils.checkpoint import checkpoint

import gradledger

Pair = namedtuple("Pair", "x y")
SIZES = (8, 8, 8, 3)


def model_of(*layers: nn.Module) -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(5, 16), *layers, nn.Tanh(), nn.Linear(16, 3))


def window(sizes=SIZES, dtype=torch.float32) -> list[Pair]:
    generator = torch.Generator().manual_seed(1)
    return [
        Pair(
            torch.randn(n, 5, generator=generator, dtype=dtype),
            torch.randint(0, 3, (n,), generator=generator),
        )
        for n in sizes
    ]


def accumulator(model: nn.Module, **options) -> gradledger.Accumulator:
    return gradledger.Accumulator(model, torch.optim.AdamW(model.parameters()), every=4, **options)


def mean(model):
    return lambda b: nn.functional.cross_entropy(model(b.x), b.y)


def test_uneven_micro_batches_are_exact():
    model = model_of()
    found = accumulator(model).verify(window(), mean(model))
    assert found.ok
    assert found
    assert found.error < 1e-6
    assert found.scale == pytest.approx(1, abs=1e-6)
    assert found.causes == ()
    assert found.message.startswith("exact to ")
    assert str(found) == f"4 micro-batches against the full batch: {found.message}"
    assert [row.name for row in found.parameters] == ["0.weight", "0.bias", "2.weight", "2.bias"]
    assert all(row.ok and row.error < 1e-5 for row in found.parameters)


@settings(max_examples=30, deadline=None)
@given(sizes=st.lists(st.integers(1, 9), min_size=1, max_size=6), summed=st.booleans())
def test_any_window_is_exact_in_double_precision(sizes, summed):
    model = model_of().double()
    reduction = "sum" if summed else "mean"
    acc = accumulator(model, reduction=reduction)
    loss = lambda b: nn.functional.cross_entropy(model(b.x), b.y, reduction=reduction)
    found = acc.verify(window(sizes, torch.float64), loss)
    assert found.ok
    assert found.error <= 1e-10


def test_a_sum_is_recognised():
    model = model_of()
    loss = lambda b: nn.functional.cross_entropy(model(b.x), b.y, reduction="sum")
    found = accumulator(model).verify(window((8, 8, 8, 8)), loss)
    assert not found
    assert found.scale == pytest.approx(0.25, abs=1e-4)
    assert (
        found.message
        == '4.00x too small: the loss is a sum and not a mean: Accumulator(..., reduction="sum")'
    )
    assert "whole gradient: error 7.5e-01, scale 0.25" in str(found)
    uneven = accumulator(model).verify(window(), loss)
    assert uneven.message == 'the loss is a sum and not a mean: Accumulator(..., reduction="sum")'


def test_a_mean_that_is_not_divided_is_recognised():
    model = model_of()
    found = accumulator(model, reduction="sum").verify(window((8, 8, 8, 8)), mean(model))
    assert found.scale == pytest.approx(4, abs=1e-3)
    assert found.message.startswith("4.00x too large: the loss is not a sum but a mean, and is not divided")


def test_wrong_counts_are_recognised_with_the_right_ones():
    model = model_of()
    batches = window((8, 8, 8, 8))
    for batch, ignored in zip(batches, (0, 3, 6, 7), strict=True):
        batch.y[:ignored] = -100
    found = accumulator(model).verify(batches, mean(model))
    assert not found.ok
    assert "they say 8 : 8 : 8 : 8" in found.message
    assert "weighs its parts 16 : 10 : 4 : 2" in found.message  # as shares of the 32 that were said
    assert accumulator(model).verify(batches, lambda b: (mean(model)(b), (b.y != -100).sum())).ok


def test_batchnorm_is_recognised():
    model = model_of(nn.BatchNorm1d(16))
    before = copy.deepcopy(model.state_dict())
    found = accumulator(model).verify(window(), mean(model))
    assert not found.ok
    assert found.causes == ("BatchNorm couples the samples of a micro-batch",)
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    assert all(module.training for module in model.modules())


def test_batchnorm_and_a_sum_are_both_named():
    model = model_of(nn.BatchNorm1d(16))
    found = accumulator(model, reduction="sum").verify(window((8, 8, 8, 8)), mean(model))
    assert any("not a sum but a mean" in each for each in found.causes)


def test_dropout_is_switched_off_and_said():
    model = model_of(nn.Dropout(0.5))
    found = accumulator(model).verify(window(), mean(model))
    assert found.ok
    assert found.notes == ("the loss is random (dropout): compared with dropout off",)
    assert "dropout off" in found.message
    assert model[1].training


def test_dropout_without_a_layer_is_switched_off_too():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = model_of()

        def forward(self, x):
            return self.inner(nn.functional.dropout(x, 0.5, self.training))

    model = Net()
    found = accumulator(model).verify(window(), mean(model))
    assert found.ok
    assert "dropout off" in found.message


def test_noise_that_cannot_be_switched_off_is_said():
    model = model_of()
    found = accumulator(model).verify(
        window(), lambda b: mean(model)(b._replace(x=b.x + torch.randn_like(b.x)))
    )
    assert not found.ok
    assert "random even in eval mode" in found.message


@pytest.mark.parametrize("precision", ["fp32", "bf16", "fp16"])
def test_a_contrastive_loss_is_sent_to_cached_backward(precision):
    model = model_of()

    def loss(b):
        e = model(b.x)
        return nn.functional.cross_entropy(e @ e.T, torch.arange(len(e)))

    found = accumulator(model, precision=precision).verify(window(), loss)
    assert not found.ok
    assert "compares samples with each other" in found.message
    assert "gradledger.cached_backward" in found.message


def test_terms_are_judged_one_by_one():
    model = model_of()

    def loss(b):
        out = model(b.x)
        return {
            "lm": (nn.functional.cross_entropy(out, b.y), len(b.y)),
            "aux": (out.square().mean(0).sum(), len(b.y)),
            "bad": (out.abs().sum(), len(b.y)),
        }

    found = accumulator(model).verify(window((4, 4)), loss)
    assert len(found.causes) == 1
    assert found.causes[0].startswith("bad: 2.00x too small: the loss is a sum")
    assert accumulator(model).verify(window(), lambda b: {k: v for k, v in loss(b).items() if k != "bad"}).ok


def test_a_small_parameter_is_not_hidden_by_the_others():
    model = nn.ModuleDict({"net": model_of(), "t": nn.ParameterDict({"t": torch.tensor(1e-3)})})

    def loss(b):
        e = model["net"](b.x)
        return nn.functional.cross_entropy(e, b.y) + 1e-2 * model["t"]["t"] * e.detach().std()

    found = accumulator(model).verify(window(), loss)
    assert not found.ok
    assert [row.name for row in found.parameters if not row.ok] == ["t.t"]


class Trace:
    """Everything that must be the same afterwards, to the bit and to the object."""

    def __init__(self, model, acc, optimizer):
        self.grads = [
            (p.grad, None if p.grad is None else (p.grad._version, p.grad.clone()))
            for p in model.parameters()
        ]
        self.buffers = [(b, b._version, b.clone()) for b in model.buffers()]
        self.modes = [module.training for module in model.modules()]
        self.rng = torch.get_rng_state(), random.getstate()
        self.state = acc.waiting, acc.step, repr(acc.state_dict()["window"])
        self.optimizer = repr(optimizer.state_dict())

    def same(self, other):
        assert all(
            a is b and (x is None or (x[0] == y[0] and torch.equal(x[1], y[1])))
            for (a, x), (b, y) in zip(self.grads, other.grads, strict=True)
        )
        assert all(
            a is b and v == w and torch.equal(x, y)
            for (a, v, x), (b, w, y) in zip(self.buffers, other.buffers, strict=True)
        )
        assert self.modes == other.modes
        assert torch.equal(self.rng[0], other.rng[0])
        assert self.rng[1] == other.rng[1]
        assert self.state == other.state
        assert self.optimizer == other.optimizer


@pytest.mark.parametrize("batchnorm", ["micro_batch", "window"])
@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.filterwarnings("ignore:gradledger")
def test_nothing_is_changed_in_mid_window_also_after_an_error(fails, batchnorm):
    model = model_of(nn.BatchNorm1d(16), nn.Dropout(0.3))
    model[1].weight.requires_grad_(False)
    optimizer = torch.optim.AdamW(model.parameters())
    acc = gradledger.Accumulator(model, optimizer, every=4, batchnorm=batchnorm)
    other = nn.Linear(3, 3)
    other.weight.grad = kept = torch.ones(3, 3)
    untouched = copy.deepcopy(model)
    for number, batch in enumerate(window()):
        if number == 2:
            before = Trace(model, acc, optimizer)
            calls = 0

            def loss(b):
                nonlocal calls
                calls += 1
                if fails and calls == 7:
                    raise RuntimeError("boom")
                random.random()
                return nn.functional.cross_entropy(other(model(b.x)), b.y)

            if fails:
                with pytest.raises(RuntimeError, match="boom"):
                    acc.verify(window(), loss)
            else:
                acc.verify(window(), loss)
            before.same(Trace(model, acc, optimizer))
            assert other.weight.grad is kept
            assert torch.equal(kept, torch.ones(3, 3))
            assert other.bias.grad is None
        torch.manual_seed(number)
        update = acc.backward(mean(model)(batch), count=len(batch.y))
    assert update.applied
    assert acc.step == 1
    acc.close()
    plain = gradledger.Accumulator(
        untouched, torch.optim.AdamW(untouched.parameters()), every=4, batchnorm=batchnorm
    )
    for number, batch in enumerate(window()):
        torch.manual_seed(number)
        plain.backward(mean(untouched)(batch), count=len(batch.y))
    assert all(
        torch.equal(a, b)
        for a, b in zip(model.state_dict().values(), untouched.state_dict().values(), strict=True)
    )


def test_modules_outside_of_the_model_keep_their_buffers():
    model, norm = model_of(), nn.BatchNorm1d(3)
    before = norm.running_mean
    copy_ = before.clone()
    accumulator(model).verify(window(), lambda b: norm(model(b.x)).square().mean() + mean(model)(b))
    assert norm.running_mean is before
    assert torch.equal(before, copy_)
    assert int(norm.num_batches_tracked) == 0


def test_other_shapes_need_collate():
    model = nn.Sequential(nn.Embedding(10, 4), nn.Linear(4, 10)).double()
    batches = [torch.randint(1, 10, (3, n)) for n in (4, 6, 5)]

    def loss(ids):
        kept = ids != 0
        return nn.functional.cross_entropy(model(ids)[kept], ids[kept]), kept.sum()

    acc = accumulator(model)
    with pytest.raises(ValueError, match=r"batch has the shapes \(3, 4\) and \(3, 5\).*collate="):
        acc.verify(batches, loss)
    pad = lambda parts: torch.cat([nn.functional.pad(part, (0, 6 - part.shape[1])) for part in parts])
    found = acc.verify(batches, loss, collate=pad)
    assert found.ok
    assert found.error < 1e-12


@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_lower_precision_is_compared_with_its_own_tolerance(precision):
    model = model_of()
    acc = accumulator(model, precision=precision)
    found = acc.verify(window(), mean(model))
    assert found.ok, str(found)
    assert found.tolerance == 0.05
    found = acc.verify(window((8, 8)), lambda b: mean(model)(b) * len(b.y))
    assert "2.00x too small" in found.message
    assert not torch.is_autocast_enabled("cpu")


@pytest.mark.skipif(not hasattr(nn.Parameter, "grad_dtype"), reason="came with torch 2.9")
def test_wide_gradients():
    model = model_of().bfloat16()
    acc = accumulator(model, accumulate_in=torch.float32)
    assert acc.verify(window(dtype=torch.bfloat16), mean(model)).ok


@pytest.mark.parametrize("reentrant", [True, False])
def test_activation_checkpointing(reentrant):
    model = model_of(nn.BatchNorm1d(16))
    model[1].eval()

    def loss(b):
        x = b.x.clone().requires_grad_()
        return nn.functional.cross_entropy(checkpoint(model, x, use_reentrant=reentrant), b.y)

    assert accumulator(model).verify(window(), loss).ok


def test_sparse_gradients():
    model = nn.Sequential(nn.Embedding(20, 4, sparse=True), nn.Linear(4, 3))
    acc = gradledger.Accumulator(model, torch.optim.SGD(model.parameters(), lr=0.1), every=2)
    batches = [Pair(torch.randint(0, 20, (n,)), torch.randint(0, 3, (n,))) for n in (4, 7)]
    assert acc.verify(batches, mean(model)).ok


def test_every_look_starts_from_the_same_buffers():
    class Warming(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("calls", torch.zeros((), dtype=torch.float64))

        def forward(self, x):
            self.calls += 1
            return x / self.calls

    model = model_of(Warming()).double()
    assert accumulator(model).verify(window(dtype=torch.float64), mean(model)).error <= 1e-12
    assert float(model[1].calls) == 0


@pytest.mark.parametrize(
    ("batches", "loss", "text"),
    [
        ([], None, "got none"),
        (window(), lambda b: b.x.sum(), "needs no gradient"),
        (window(), lambda b: (torch.ones(1, requires_grad=True).sum(), -1), "not negative"),
        (window(), lambda b: torch.full((), float("nan")), "not finite"),
        (window(), lambda b: nn.Linear(5, 1)(b.x).sum(), "reaches none"),
    ],
)
def test_bad_input_is_refused(batches, loss, text):
    model = model_of()
    acc = accumulator(model)
    reaching = lambda b: loss(b) * sum(p.sum() for p in model.parameters())
    given = reaching if text == "not finite" else loss
    with pytest.raises(ValueError, match=text):
        acc.verify(batches, given)


def test_a_verification_says_nothing_aloud():
    model = model_of(nn.BatchNorm1d(16))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        accumulator(model).verify(window(), mean(model))
