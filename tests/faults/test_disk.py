"""A disk that is full: the checkpoint of before stays, and the training goes on."""

from __future__ import annotations

import resource
import signal
from pathlib import Path

import pytest
import torch

import gradledger
from tests.engine.models import adamw, mean_loss, same_bits, samples, small_model


@pytest.fixture
def full_disk():
    """No file of this process may grow beyond 4 KiB."""
    before, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.getsignal(signal.SIGXFSZ)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    def fill() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))

    yield fill
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


def test_a_save_on_a_full_disk_changes_nothing(full_disk, tmp_path: Path) -> None:
    x, y = samples(8)
    model = small_model()
    acc = gradledger.Accumulator(model, adamw(model), every=2)
    acc.backward(mean_loss(model, x[:4], y[:4]), count=4)
    path = tmp_path / "run.ckpt"
    acc.save(path, number=1)
    before = path.read_bytes()
    full_disk()
    with pytest.raises((OSError, RuntimeError)):
        acc.save(path, number=2)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.ckpt"]
    assert acc.backward(mean_loss(model, x[4:], y[4:]), count=4).outcome == "applied"

    again = small_model(seed=5)
    other = gradledger.Accumulator(again, adamw(again), every=2)
    assert other.load(path) == {"number": 1}
    other.backward(mean_loss(again, x[4:], y[4:]), count=4)
    assert same_bits(again, model)


def test_what_was_loaded_can_be_saved_at_once_and_loaded_again(tmp_path: Path) -> None:
    x, y = samples(12)
    batches = list(zip(x.split(3), y.split(3), strict=True))

    def made():
        model = small_model()
        return model, gradledger.Accumulator(model, adamw(model), every=2)

    whole, acc = made()
    for a, b in acc.batches(batches):
        acc.backward(mean_loss(whole, a, b), count=3)
    model, acc = made()
    for number, (a, b) in enumerate(acc.batches(batches), 1):
        acc.backward(mean_loss(model, a, b), count=3)
        if number == 3:
            break
    acc.save(tmp_path / "one.ckpt")
    acc.discard()
    torch.manual_seed(99)
    for source, target in (("one", "two"), ("two", "three")):
        model, acc = made()
        acc.load(tmp_path / f"{source}.ckpt")
        acc.save(tmp_path / f"{target}.ckpt")
        acc.discard()
    model, acc = made()
    acc.load(tmp_path / "three.ckpt")
    for a, b in acc.batches(batches):
        acc.backward(mean_loss(model, a, b), count=3)
    assert same_bits(model, whole)
