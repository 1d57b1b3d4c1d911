"""Bad input: one clear error each, and the state unharmed."""

from __future__ import annotations

import math

import pytest
import torch

import gradledger
from tests.engine.models import mean_loss, samples, sgd, small_model


def made(**options):
    model = small_model()
    return model, gradledger.Accumulator(model, sgd(model), **options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"every": 0}, "every must be a whole number"),
        ({"every": -1}, "every must be a whole number"),
        ({"every": 2.5}, "every must be a whole number"),
        ({"every": True}, "every must be a whole number"),
        ({"every": 2, "target_count": 8}, "not both"),
        ({"target_count": 0}, "target_count"),
        ({"target_count": math.nan}, "target_count"),
        ({"tail": "keep"}, "'flush' or 'carry' or 'drop'"),
        ({"reduction": "none"}, "reduction"),
        ({"nonfinite": "ignore"}, "nonfinite"),
        ({"precision": "fp8"}, "precision"),
        ({"traffic": "none"}, "traffic"),
        ({"clip_norm": 0}, "positive"),
        ({"clip_norm": -1.0}, "positive"),
        ({"clip_norm": math.nan}, "positive"),
        ({"clip_norm": (1.0, 2.0)}, "2 bounds for 1 parameter groups"),
        ({"clip_norm": 1.0, "clip_value": 1.0}, "not both"),
        ({"scaler": 3}, "GradScaler"),
        ({"scheduler": 3}, "scheduler"),
        ({"group": object()}, "initialised"),
    ],
)
def test_options_that_cannot_be(options: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        made(**options)


def test_a_function_of_the_window_that_gives_nonsense() -> None:
    model, acc = made(every=lambda done: 0)
    x, y = samples(4)
    with pytest.raises(ValueError, match=r"every\(0\)"):
        acc.backward(mean_loss(model, x, y), count=4)


@pytest.mark.parametrize("count", [-1, math.nan, math.inf, "many", torch.ones(2), None, object()])
def test_counts_that_cannot_be(count: object) -> None:
    model, acc = made(every=2)
    x, y = samples(4)
    with pytest.raises(ValueError, match="count"):
        acc.backward(mean_loss(model, x, y), count=count)
    assert acc.waiting == 0
    assert acc.backward(mean_loss(model, x, y), count=4) is None
    assert acc.backward(mean_loss(model, x, y), count=torch.tensor(4)).applied


@pytest.mark.parametrize(
    ("loss", "words"),
    [
        (lambda model, x: model(x), "single number"),
        (lambda model, x: model(x).mean().detach(), "needs no gradient"),
        (lambda model, x: 3.0, "must be a tensor"),
        (lambda model, x: {"a": model(x).mean()}, "pair"),
        (lambda model, x: {}, "loss terms"),
    ],
)
def test_losses_that_cannot_be(loss, words: str) -> None:
    model, acc = made(every=2)
    x, y = samples(4)
    value = loss(model, x)
    with pytest.raises(ValueError, match=words):
        acc.backward(value, None if isinstance(value, dict) else 4)
    assert acc.waiting == 0
    assert acc.backward(mean_loss(model, x, y), count=4) is None
    acc.discard()


def test_a_loss_without_a_way_to_the_parameters() -> None:
    model, acc = made(every=2)
    x, y = samples(4)
    with pytest.raises(gradledger.LedgerError, match="reached none of the 4 parameters"):
        acc.backward(mean_loss(small_model(), x, y), count=4)
    assert acc.waiting == 0
    acc.backward(mean_loss(model, x, y), count=4)
    assert acc.backward(mean_loss(model, x, y), count=4).applied


def test_an_optimizer_of_another_model() -> None:
    with pytest.raises(ValueError, match=r"4 of the optimizer's 4 parameters are not the model's"):
        gradledger.Accumulator(small_model(), sgd(small_model()))


def test_what_is_no_model_and_no_optimizer() -> None:
    model = small_model()
    with pytest.raises(ValueError, match="model must be"):
        gradledger.Accumulator(3, sgd(model))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="optimizer must be"):
        gradledger.Accumulator(model, "adam")  # type: ignore[arg-type]


def test_mixed_devices() -> None:
    model = torch.nn.ModuleList([torch.nn.Linear(2, 2), torch.nn.Linear(2, 2, device="meta")])
    with pytest.raises(ValueError, match="one device, not on cpu, meta"):
        gradledger.Accumulator(model, torch.optim.SGD(model.parameters(), lr=0.1))


def test_lbfgs_is_refused_with_a_reason() -> None:
    model = small_model()
    with pytest.raises(ValueError, match="several times within one step"):
        gradledger.Accumulator(model, torch.optim.LBFGS(model.parameters()))


def test_a_window_without_a_single_token_is_skipped_and_said() -> None:
    model, acc = made(every=2)
    before = [p.detach().clone() for p in model.parameters()]
    x, y = samples(4)
    acc.backward(mean_loss(model, x, y) * math.nan, count=0)
    with pytest.warns(RuntimeWarning, match=r"test_inputs.py:\d+: the counts of this window add up to 0"):
        update = acc.backward(mean_loss(model, x, y) * math.nan, count=0)
    assert update.outcome == "skipped_empty"
    assert update.step == 0
    assert all(torch.equal(p, q) for p, q in zip(model.parameters(), before, strict=True))


@pytest.mark.parametrize("policy", ["skip", "warn", "raise"])
def test_a_gradient_that_is_not_finite(policy: str, recwarn: pytest.WarningsRecorder) -> None:
    model, acc = made(every=2, nonfinite=policy)
    before = [p.detach().clone() for p in model.parameters()]
    x, y = samples(4)
    acc.backward(mean_loss(model, x, y), count=4)
    if policy == "raise":
        with pytest.raises(gradledger.LedgerError, match="not finite"):
            acc.backward(mean_loss(model, x * math.inf, y), count=4)
    else:
        update = acc.backward(mean_loss(model, x * math.inf, y), count=4)
        assert update.outcome == "skipped_nonfinite"
        assert math.isnan(update.grad_norm)
    assert [str(w.message).split(": ")[1] for w in recwarn if w.category is RuntimeWarning] == (
        ["the gradient of this window is not finite (norm nan, loss nan)"] if policy == "warn" else []
    )
    assert all(torch.equal(p, q) for p, q in zip(model.parameters(), before, strict=True))
    assert acc.waiting == 0
    for _ in range(2):
        update = acc.backward(mean_loss(model, x, y), count=4)
    assert update.applied
    assert update.step == 1
