"""One large batch cut to fit: the same update, whatever the size of the pieces."""

from __future__ import annotations

from collections import UserDict, namedtuple
from dataclasses import dataclass

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import gradledger
from tests.engine.models import adamw, distance, full_batch_step, mean_loss, same_bits, samples, small_model


@settings(deadline=None, max_examples=30)
@given(total=st.integers(1, 30), micro_batch=st.integers(1, 40))
def test_any_piece_gives_the_full_batchs_update(total: int, micro_batch: int) -> None:
    x, y = samples(total)
    model, reference = small_model(), small_model()
    acc = gradledger.Accumulator(model, adamw(model), every=2, clip_norm=0.2)
    update = acc.step_on((x, y), lambda b: mean_loss(model, *b), micro_batch=micro_batch)
    full_batch_step(reference, adamw(reference), x, y, 0.2)
    assert update.count == total
    assert update.micro_batches == -(-total // micro_batch)
    assert distance(model, reference) <= 1e-10


Pair = namedtuple("Pair", "x y")


@dataclass
class Batch:
    x: torch.Tensor
    y: torch.Tensor
    name: str = "train"


@pytest.mark.parametrize(
    "wrap",
    [
        lambda x, y: {"x": x, "y": y, "temperature": torch.tensor(1.0)},
        lambda x, y: UserDict(x=x, y=y),
        Pair,
        Batch,
        lambda x, y: [x, {"y": y}],
    ],
)
def test_batches_of_any_make(wrap) -> None:
    x, y = samples(10)
    model, reference = small_model(), small_model()

    def loss(batch):
        if isinstance(batch, list):
            return mean_loss(model, batch[0], batch[1]["y"])
        return (
            mean_loss(model, batch["x"], batch["y"])
            if hasattr(batch, "keys")
            else mean_loss(model, batch.x, batch.y)
        )

    acc = gradledger.Accumulator(model, adamw(model))
    acc.step_on(wrap(x, y), loss, micro_batch=4)
    full_batch_step(reference, adamw(reference), x, y)
    assert distance(model, reference) <= 1e-10


class Memory:
    """Fails as a device does when a piece is larger than fits, in the forward or in the backward."""

    def __init__(self, most: int, where: str) -> None:
        self.most, self.where, self.sizes = most, where, []

    def __call__(self, model, x, y):
        self.sizes.append(len(x))
        error = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        if len(x) > self.most and self.where == "forward":
            raise error
        loss = mean_loss(model, torch.nn.functional.dropout(x, 0.2), y)
        if len(x) > self.most:

            def fail(_):
                raise error

            loss.register_hook(fail)
        return loss


@pytest.mark.parametrize("where", ["forward", "backward"])
def test_the_largest_piece_that_fits_is_found_and_remembered(where: str) -> None:
    """The failed window leaves no trace in weights, statistics and random numbers."""
    x, y = samples(20)
    memory = Memory(6, where)
    make = lambda: torch.nn.Sequential(torch.nn.BatchNorm1d(3).double(), *small_model())
    model, reference = make(), make()
    acc = gradledger.Accumulator(model, adamw(model), clip_norm=0.3)
    torch.manual_seed(0)
    update = acc.step_on((x, y), lambda b: memory(model, *b), micro_batch="auto")
    assert memory.sizes[0] == 20
    assert update.micro_batches == 4
    assert update.count == 20
    memory.sizes.clear()
    acc.step_on((x, y), lambda b: memory(model, *b))
    assert memory.sizes == [5, 5, 5, 5]
    other = gradledger.Accumulator(reference, adamw(reference), clip_norm=0.3)
    torch.manual_seed(0)
    for _ in range(2):
        other.step_on((x, y), lambda b: Memory(99, where)(reference, *b), micro_batch=5)
    assert same_bits(model, reference)
    assert all(torch.equal(p, q) for p, q in zip(model.buffers(), reference.buffers(), strict=True))


def test_a_single_sample_that_does_not_fit_raises_the_error_itself() -> None:
    x, y = samples(4)
    model, untouched = small_model(), small_model()
    acc = gradledger.Accumulator(model, adamw(model))
    memory = Memory(0, "forward")
    with pytest.raises(torch.OutOfMemoryError):
        acc.step_on((x, y), lambda b: memory(model, *b))
    assert memory.sizes == [4, 2, 1]
    assert acc.waiting == 0
    assert same_bits(model, untouched)


def test_another_error_is_not_taken_for_memory() -> None:
    x, y = samples(4)
    model = small_model()
    acc = gradledger.Accumulator(model, adamw(model))
    with pytest.raises(KeyError):
        acc.step_on((x, y), lambda b: {}["missing"])
    assert acc.waiting == 0


def test_batches_that_cannot_be_split() -> None:
    model = small_model()
    acc = gradledger.Accumulator(model, adamw(model), every=2)
    x, y = samples(4)
    with pytest.raises(ValueError, match="does not tell how many samples"):
        acc.step_on({"a": 3}, lambda b: b, micro_batch=2)
    with pytest.raises(ValueError, match=r"batch\[1\] holds 3 samples where others hold 4"):
        acc.step_on((x, y[:3]), lambda b: b, micro_batch=2)
    with pytest.raises(ValueError, match="micro_batch"):
        acc.step_on((x, y), lambda b: b, micro_batch=0)
    acc.backward(mean_loss(model, x, y), count=4)
    with pytest.raises(gradledger.LedgerError, match=r"a window is open since .*:\d+"):
        acc.step_on((x, y), lambda b: mean_loss(model, *b), micro_batch=2)
    acc.discard()
