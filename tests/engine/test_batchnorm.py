"""Running statistics of a window are those of one forward of the full batch."""

from __future__ import annotations

import copy
import pickle
import warnings

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.utils.checkpoint import checkpoint

import gradledger


def build(momentum=0.1, channels: int = 3, **options):
    model = nn.BatchNorm1d(channels, momentum=momentum).double()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    return model, gradledger.Accumulator(model, optimizer, batchnorm="window", **options)


def data(number: int, channels: int = 3, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return 5 + 3 * torch.randn(number, channels, dtype=torch.float64, generator=generator)


def same(layer: nn.BatchNorm1d, other: nn.BatchNorm1d, tolerance: float = 1e-12) -> None:
    assert torch.allclose(layer.running_mean, other.running_mean, rtol=tolerance, atol=tolerance)
    assert torch.allclose(layer.running_var, other.running_var, rtol=tolerance, atol=tolerance)
    assert int(layer.num_batches_tracked) == int(other.num_batches_tracked)


def feed(model, acc, x):
    return acc.backward(model(x).square().mean(), count=len(x))


@settings(max_examples=60, deadline=None)
@given(
    windows=st.lists(st.lists(st.integers(2, 9), min_size=1, max_size=5), min_size=1, max_size=4),
    momentum=st.sampled_from([0.1, 1.0, 0.37, None]),
    trailing=st.sampled_from([(), (4,)]),
)
def test_any_windows_leave_the_full_batchs_statistics(windows, momentum, trailing):
    model, acc = build(momentum, every=lambda done: len(windows[done]))
    full = copy.deepcopy(model)
    for number, sizes in enumerate(windows):
        x = (
            torch.stack([data(sum(sizes), seed=10 * number + i) for i in range(trailing[0])], -1)
            if trailing
            else data(sum(sizes), seed=number)
        )
        full(x)
        for part in x.split(sizes):
            feed(model, acc, part)
    acc.close()
    same(model, full)


@pytest.mark.parametrize(
    ("layer", "shape"),
    [(nn.BatchNorm1d(3), (6, 3)), (nn.BatchNorm2d(3), (6, 3, 4, 5)), (nn.BatchNorm3d(3), (6, 3, 2, 4, 5))],
)
def test_images_and_volumes_in_single_precision(layer, shape):
    model = nn.Sequential(layer)
    full = copy.deepcopy(model)
    acc = gradledger.Accumulator(
        model, torch.optim.SGD(model.parameters(), lr=0.0), every=3, batchnorm="window"
    )
    x = torch.randn(shape) * 2 + 100
    full(x)
    for part in x.split(2):
        feed(model, acc, part)
    acc.close()
    same(model[0], full[0], 1e-5)


def test_nothing_moves_while_the_window_is_open_or_when_it_is_discarded():
    model, acc = build(every=3)
    before = copy.deepcopy(model.state_dict())
    feed(model, acc, data(4))
    feed(model, acc, data(4))
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    acc.discard()
    feed(model, acc, data(6, seed=1))
    acc.flush()
    full = nn.BatchNorm1d(3).double()
    full(data(6, seed=1))
    same(model, full)
    acc.close()


def test_a_skipped_window_leaves_them():
    model, acc = build(every=2)
    before = copy.deepcopy(model.state_dict())
    feed(model, acc, data(4))
    update = acc.backward(model(data(4)).mean() * float("inf"), count=4)
    assert update.outcome == "skipped_nonfinite"
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    acc.close()


def test_validation_in_mid_window_uses_and_leaves_the_running_statistics():
    model, acc = build(every=2)
    full = copy.deepcopy(model)
    feed(model, acc, data(4))
    model.eval()
    assert torch.allclose(model(data(3)), data(3), rtol=1e-4)
    model.train()
    feed(model, acc, data(4, seed=1))
    full(torch.cat([data(4), data(4, seed=1)]))
    same(model, full)
    acc.close()


def test_a_resumed_window_is_bitwise_that_of_the_unbroken_run():
    model, acc = build(every=3)
    parts = [data(4, seed=i) for i in range(3)]
    feed(model, acc, parts[0])
    feed(model, acc, parts[1])
    saved, weights = pickle.loads(pickle.dumps(acc.state_dict())), copy.deepcopy(model.state_dict())
    feed(model, acc, parts[2])
    again, other = build(every=3)
    again.load_state_dict(weights)
    other.load_state_dict(saved)
    feed(again, other, parts[2])
    assert all(
        torch.equal(a, b)
        for a, b in zip(model.state_dict().values(), again.state_dict().values(), strict=True)
    )
    acc.close()
    other.close()


def test_saved_files_hold_it(tmp_path):
    model, acc = build(every=2)
    feed(model, acc, data(4))
    acc.save(tmp_path / "window.pt")
    again, other = build(every=2)
    other.load(tmp_path / "window.pt")
    feed(again, other, data(5, seed=1))
    full = nn.BatchNorm1d(3).double()
    full(torch.cat([data(4), data(5, seed=1)]))
    same(again, full)
    acc.discard()


def test_a_state_of_another_model_is_refused():
    model, acc = build(every=2)
    feed(model, acc, data(4))
    state = acc.state_dict()
    state["statistics"] = {"elsewhere": next(iter(state["statistics"].values()))}
    with pytest.raises(ValueError, match="another model"):
        acc.load_state_dict(state)
    acc.discard()


@pytest.mark.parametrize("reentrant", [True, False])
def test_recomputed_activations_are_counted_once(reentrant):
    layer = nn.BatchNorm1d(3).double()
    model = nn.Sequential(nn.Linear(3, 3).double(), layer)
    full = copy.deepcopy(model)
    acc = gradledger.Accumulator(
        model, torch.optim.SGD(model.parameters(), lr=0.0), every=2, batchnorm="window", isolate=False
    )
    for part in data(8).split(4):
        loss = checkpoint(layer, model[0](part), use_reentrant=reentrant).square().mean()
        acc.backward(loss, count=4)
    full(data(8))
    same(layer, full[1])
    acc.close()


def test_a_failed_forward_leaves_the_layer_whole():
    model, acc = build(every=2)
    with pytest.raises(ValueError):
        model(torch.ones(1, 3, dtype=torch.float64))
    assert model.momentum == 0.1
    full = copy.deepcopy(model)
    x = data(8)
    for part in x.split(4):
        feed(model, acc, part)
    full(x)
    same(model, full)
    acc.close()


def test_copies_and_pickles_of_the_model_are_free_and_closing_frees_it():
    model, acc = build(every=2)
    for free in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        free(data(4))
        assert int(free.num_batches_tracked) == 1
    acc.close()
    model(data(4))
    assert int(model.num_batches_tracked) == 1
    assert not model._forward_hooks
    assert not model._forward_pre_hooks


def test_an_accumulator_that_is_let_go_frees_the_model():
    model, acc = build(every=2)
    del acc
    model(data(4))
    assert int(model.num_batches_tracked) == 1
    build_again = gradledger.Accumulator(
        model, torch.optim.SGD(model.parameters(), lr=0.0), every=2, batchnorm="window"
    )
    build_again.close()


def test_two_accumulators_cannot_share_a_layers_statistics():
    model, acc = build(every=2)
    with pytest.raises(gradledger.LedgerError, match="already belong"):
        gradledger.Accumulator(model, torch.optim.SGD([model.weight], lr=0.1), every=2, batchnorm="window")
    acc.close()


def test_cached_backward_counts_its_replay_only():
    model = nn.Sequential(nn.BatchNorm1d(3)).double()
    full = copy.deepcopy(model)
    acc = gradledger.Accumulator(
        model, torch.optim.SGD(model.parameters(), lr=0.0), every=2, batchnorm="window"
    )
    x = data(8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for part in x.split(4):
            acc.cached_backward(model, part, lambda e: (e @ e.T).logsumexp(1).mean(), micro_batch=2)
    full(x)
    same(model[0], full[0])
    acc.close()


# -- what is said ------------------------------------------------------------------------------------------


def spoken(model: nn.Module, steps: int = 4, **options) -> list[warnings.WarningMessage]:
    acc = gradledger.Accumulator(model, torch.optim.SGD(model.parameters(), lr=0.0), **options)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for i in range(steps):
            feed(model, acc, data(4, seed=i))
    acc.close()
    return [each for each in seen if "BatchNorm" in str(each.message)]


def net() -> nn.Sequential:
    return nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.BatchNorm1d(3)).double()


def test_long_windows_over_batchnorm_are_spoken_of_once_with_the_accumulators_line():
    (warning,) = spoken(net(), every=2)
    assert warning.filename == __file__
    assert f"{__file__}:{warning.lineno}" in str(warning.message)
    assert "2 BatchNorm layers in training mode (1)" in str(warning.message)
    assert 'batchnorm="window"' in str(warning.message)


def test_a_schedule_is_spoken_of_when_windows_grow():
    assert spoken(net(), steps=2, every=lambda n: 1 if n < 2 else 2) == []
    assert len(spoken(net(), steps=4, every=lambda n: 1 if n < 2 else 2)) == 1


def test_silence_where_there_is_nothing_to_say():
    assert spoken(net(), every=1) == []
    assert spoken(net().eval(), every=2) == []
    assert spoken(net(), every=2, batchnorm="window") == []
    assert spoken(nn.Sequential(nn.Linear(3, 3)).double(), every=2) == []


def test_an_unknown_choice_is_refused():
    model = net()
    with pytest.raises(ValueError, match="batchnorm must be"):
        gradledger.Accumulator(model, torch.optim.SGD(model.parameters(), lr=0.0), batchnorm="epoch")
