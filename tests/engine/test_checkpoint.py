"""Resume in the middle of a window: bitwise as if never stopped, and no file that is half a file."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import gradledger
from tests.engine.models import adamw, cut, mean_loss, same_bits, samples, small_model

SCRIPT = Path(__file__).with_name("resumable.py")


def run(folder: Path, name: str, deadly: int, *kind: str) -> int:
    paths = (str(folder / f"{name}.ckpt"), str(folder / f"{name}.out"))
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *paths, str(deadly), *kind], capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode


@pytest.mark.slow
@pytest.mark.parametrize("kind", [("sized", "fp32"), ("sized", "fp16"), ("stream", "fp32")])
def test_a_killed_run_goes_on_as_if_nothing_had_happened(kind: tuple[str, str], tmp_path: Path) -> None:
    assert run(tmp_path, "whole", -1, *kind) == 0
    whole = torch.load(tmp_path / "whole.out")
    for deadly in random.Random(str(kind)).sample(range(1, 21), 2):
        name = f"cut{deadly}"
        assert run(tmp_path, name, deadly, *kind) == -signal.SIGKILL
        assert run(tmp_path, name, -1, *kind) == 0
        resumed = torch.load(tmp_path / f"{name}.out")
        assert all(torch.equal(p, q) for p, q in zip(whole, resumed, strict=True)), deadly


def train(acc, model, batches) -> None:
    for a, b in batches:
        acc.backward(mean_loss(model, a, b), count=len(a))


@pytest.mark.parametrize("stop", range(7))
def test_state_dicts_hold_everything_at_any_micro_batch(stop: int) -> None:
    x, y = samples(28)
    batches = cut(x, y, [4, 3, 5, 4, 6, 2, 4])
    whole, model = small_model(), small_model()
    acc = gradledger.Accumulator(whole, adamw(whole), every=3, clip_norm=0.1)
    train(acc, whole, batches)
    acc.flush()
    first = gradledger.Accumulator(model, optimizer := adamw(model), every=3, clip_norm=0.1)
    train(first, model, batches[:stop])
    saved = (
        first.state_dict(),
        {k: v.clone() for k, v in model.state_dict().items()},
        optimizer.state_dict(),
    )
    resumed = small_model(5)
    again = adamw(resumed)
    second = gradledger.Accumulator(resumed, again, every=3, clip_norm=0.1)
    resumed.load_state_dict(saved[1])
    again.load_state_dict(saved[2])
    second.load_state_dict(saved[0])
    assert second.waiting == first.waiting
    assert second.step == first.step
    if second.waiting:
        with pytest.raises(gradledger.LedgerError, match=r"test_checkpoint.py:\d+"):
            again.step()
        first.discard()
    train(second, resumed, batches[stop:])
    second.flush()
    assert same_bits(resumed, whole)


def test_several_terms_are_saved_with_their_own_gradients(tmp_path: Path) -> None:
    x, y = samples(12)

    def terms(model, a, b):
        out = model(a)
        return {"fit": ((out - b).square().mean(), len(a)), "small": (out.mean().square(), 1)}

    batches = cut(x, y, [5, 4, 3])
    whole, model = small_model(), small_model()
    acc = gradledger.Accumulator(whole, adamw(whole), every=3)
    for a, b in batches:
        acc.backward(terms(whole, a, b))
    first = gradledger.Accumulator(model, adamw(model), every=3)
    for a, b in batches[:2]:
        first.backward(terms(model, a, b))
    first.save(tmp_path / "mid.ckpt", note="half way")
    first.discard()
    resumed = small_model(5)
    second = gradledger.Accumulator(resumed, adamw(resumed), every=3)
    assert second.load(tmp_path / "mid.ckpt") == {"note": "half way"}
    second.backward(terms(resumed, *batches[2]))
    assert same_bits(resumed, whole)


@pytest.fixture
def saved(tmp_path: Path):
    model = small_model()
    acc = gradledger.Accumulator(model, adamw(model), every=3)
    x, y = samples(4)
    acc.backward(mean_loss(model, x, y), count=4)
    path = tmp_path / "run.ckpt"
    acc.save(path)
    yield path, model, acc
    acc.discard()


def test_only_plain_data_and_tensors_are_written(saved) -> None:
    path, _, _ = saved
    torch.load(path, weights_only=True)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_a_file_that_is_cut_off_is_refused(saved, share: float) -> None:
    path, model, acc = saved
    before = {k: v.clone() for k, v in model.state_dict().items()}
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(ValueError, match=r"run\.ckpt cannot be read as a checkpoint"):
        acc.load(path)
    assert acc.waiting == 1
    assert all(torch.equal(before[k], v) for k, v in model.state_dict().items())


def test_a_foreign_a_newer_and_a_missing_file_are_refused(saved, tmp_path: Path) -> None:
    path, model, acc = saved
    torch.save(model.state_dict(), tmp_path / "weights.pt")
    with pytest.raises(ValueError, match="not a checkpoint of gradledger"):
        acc.load(tmp_path / "weights.pt")
    content = torch.load(path)
    torch.save(content | {"version": 99}, tmp_path / "new.ckpt")
    with pytest.raises(ValueError, match="version 99"):
        acc.load(tmp_path / "new.ckpt")
    with pytest.raises(ValueError, match="there is no checkpoint"):
        acc.load(tmp_path / "none.ckpt")
    with pytest.raises(ValueError, match="not a checkpoint"):
        acc.load_state_dict({})
    assert acc.waiting == 1


def test_a_checkpoint_of_another_model_is_refused(saved) -> None:
    _, _, acc = saved
    state = acc.state_dict()
    other = torch.nn.Linear(3, 1).double()
    second = gradledger.Accumulator(other, adamw(other), every=3)
    with pytest.raises(ValueError, match=r"no parameter '0\.bias'"):
        second.load_state_dict(state)
    assert second.waiting == 0


def test_a_failed_save_leaves_the_old_file(saved, monkeypatch: pytest.MonkeyPatch) -> None:
    path, _, acc = saved
    old = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        acc.save(path)
    assert path.read_bytes() == old
    assert list(path.parent.iterdir()) == [path]


def test_a_scaler_on_one_side_only_is_refused(saved) -> None:
    path, _, _ = saved
    model = small_model()
    acc = gradledger.Accumulator(model, adamw(model), every=3, precision="fp16")
    with pytest.raises(ValueError, match="gradient scaler"):
        acc.load(path)
