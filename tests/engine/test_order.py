"""One owner of the cycle: every wrong order is refused with both lines, and nothing is harmed."""

from __future__ import annotations

import copy
import pickle
import re
import sys

import pytest
import torch

import gradledger
from tests.engine.models import adamw, cut, full_batch_step, mean_loss, same_bits, samples, sgd, small_model


def line() -> int:
    return sys._getframe(1).f_lineno


def lines_in(error: BaseException) -> list[int]:
    return [int(number) for number in re.findall(rf"{re.escape(__file__)}:(\d+)", str(error))]


@pytest.fixture
def opened():
    """A window with one micro-batch of two, and the line that opened it."""
    model = small_model()
    optimizer = sgd(model)
    acc = gradledger.Accumulator(model, optimizer, every=2)
    x, y = samples(8)
    at = line() + 1
    acc.backward(mean_loss(model, x[:4], y[:4]), count=4)
    yield model, optimizer, acc, at
    if acc.waiting:
        acc.discard()


def finish_and_compare(model, acc) -> None:
    """The refused call left everything as it was: the window still becomes the full batch's update."""
    x, y = samples(8)
    assert acc.backward(mean_loss(model, x[4:], y[4:]), count=4).applied
    reference = small_model()
    full_batch_step(reference, sgd(reference), x, y)
    assert all(torch.allclose(p, q) for p, q in zip(model.parameters(), reference.parameters(), strict=True))


def test_a_step_by_hand_in_an_open_window(opened) -> None:
    model, optimizer, acc, at = opened
    with pytest.raises(gradledger.LedgerError, match="open window") as caught:
        optimizer.step()
    assert lines_in(caught.value) == [line() - 1, at]
    finish_and_compare(model, acc)


def test_a_clear_by_hand_in_an_open_window(opened) -> None:
    model, optimizer, acc, at = opened
    with pytest.raises(gradledger.LedgerError, match="throw away 1 micro-batch") as caught:
        optimizer.zero_grad()
    assert lines_in(caught.value) == [line() - 1, at]
    finish_and_compare(model, acc)


def test_a_clear_through_the_model_in_an_open_window(opened) -> None:
    model, _, acc, at = opened
    x, y = samples(8)
    model.zero_grad()
    with pytest.raises(gradledger.LedgerError, match="were cleared") as caught:
        acc.backward(mean_loss(model, x[4:], y[4:]), count=4)
    assert lines_in(caught.value) == [line() - 1, at]
    with pytest.raises(gradledger.LedgerError, match="were cleared"):
        acc.flush()


def test_a_backward_by_hand_in_an_open_window(opened) -> None:
    model, _, acc, at = opened
    x, y = samples(8)
    mean_loss(model, x, y).backward()
    with pytest.raises(gradledger.LedgerError, match="were changed") as caught:
        acc.flush()
    assert lines_in(caught.value) == [line() - 1, at]


def test_a_backward_by_hand_before_a_window() -> None:
    model = small_model()
    made = line() + 1
    acc = gradledger.Accumulator(model, sgd(model), every=2)
    x, y = samples(8)
    mean_loss(model, x, y).backward()
    with pytest.raises(gradledger.LedgerError, match="gradients appeared") as caught:
        acc.backward(mean_loss(model, x, y), count=8)
    assert lines_in(caught.value) == [line() - 1, made]
    acc.discard()
    assert acc.backward(mean_loss(model, x, y), count=8) is None
    acc.discard()


def test_a_step_by_hand_between_windows() -> None:
    model = small_model()
    optimizer = sgd(model)
    made = line() + 1
    acc = gradledger.Accumulator(model, optimizer)
    with pytest.raises(gradledger.LedgerError, match="by hand") as caught:
        optimizer.step()
    assert lines_in(caught.value) == [line() - 1, made]
    optimizer.zero_grad()  # clears nothing that anybody waits for
    assert acc.waiting == 0


def test_a_backward_after_the_end() -> None:
    model = small_model()
    optimizer = sgd(model)
    acc = gradledger.Accumulator(model, optimizer)
    x, y = samples(4)
    closed = line() + 1
    acc.close()
    with pytest.raises(gradledger.LedgerError, match="was closed") as caught:
        acc.backward(mean_loss(model, x, y), count=4)
    assert lines_in(caught.value) == [line() - 1, closed]
    mean_loss(model, x, y).backward()
    optimizer.step()
    optimizer.zero_grad()


def test_an_optimizer_changed_in_an_open_window(opened) -> None:
    model, optimizer, acc, at = opened
    x, y = samples(8)
    extra = torch.nn.Parameter(torch.zeros(1, dtype=torch.float64))
    optimizer.add_param_group({"params": [extra]})
    with pytest.raises(gradledger.LedgerError, match="changed in an open window") as caught:
        acc.backward(mean_loss(model, x[4:], y[4:]), count=4)
    assert lines_in(caught.value) == [line() - 1, at]


def test_parameters_added_between_windows_are_taken_up() -> None:
    model = small_model()
    optimizer = torch.optim.SGD(model[2].parameters(), lr=0.1)
    acc = gradledger.Accumulator(model, optimizer, every=2)
    x, y = samples(8)
    before = model[0].weight.detach().clone()
    for a, b in acc.batches(cut(x, y, [4, 4])):
        acc.backward(mean_loss(model, a, b), count=4)
    assert torch.equal(model[0].weight, before)
    model.zero_grad()
    optimizer.add_param_group({"params": list(model[0].parameters())})
    for a, b in acc.batches(cut(x, y, [4, 4])):
        acc.backward(mean_loss(model, a, b), count=4)
    assert not torch.equal(model[0].weight, before)


def test_two_accumulators_cannot_own_one_optimizer() -> None:
    model = small_model()
    optimizer = sgd(model)
    made = line() + 1
    acc = gradledger.Accumulator(model, optimizer)
    with pytest.raises(gradledger.LedgerError, match="already belongs") as caught:
        gradledger.Accumulator(model, optimizer)
    assert lines_in(caught.value) == [line() - 1, made]
    acc.close()
    gradledger.Accumulator(model, optimizer)


def test_an_accumulator_that_is_gone_keeps_nothing() -> None:
    model = small_model()
    optimizer = sgd(model)
    gradledger.Accumulator(model, optimizer)
    x, y = samples(4)
    gradledger.Accumulator(model, optimizer).backward(mean_loss(model, x, y), count=4)


def test_a_window_that_is_forgotten_is_spoken_of() -> None:
    model = small_model()
    x, y = samples(4)
    acc = gradledger.Accumulator(model, sgd(model), every=3)
    at = line() + 1
    acc.backward(mean_loss(model, x, y), count=4)
    with pytest.warns(RuntimeWarning, match=rf"1 micro-batches since .*:{at} were never applied"):
        del acc


def test_a_failing_backward_leaves_a_window_that_says_so() -> None:
    class Fails(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            raise ZeroDivisionError

    model = small_model()
    acc = gradledger.Accumulator(model, sgd(model), every=3)
    x, y = samples(4)
    with pytest.raises(ZeroDivisionError):
        acc.backward(
            mean_loss(model, Fails.apply(x.requires_grad_()), y) + 0 * Fails.apply(model[2].bias).sum(), 4
        )
    x = x.detach()
    assert acc.waiting == 0
    assert acc.backward(mean_loss(model, x, y), count=4) is None  # the first of a window: nothing was lost
    with pytest.raises(ZeroDivisionError):
        acc.backward(Fails.apply(mean_loss(model, x, y)), count=4)
    with pytest.raises(gradledger.LedgerError, match="failed half way"):
        acc.backward(mean_loss(model, x, y), count=4)
    with pytest.raises(gradledger.LedgerError, match="failed half way"):
        acc.state_dict()
    assert acc.discard() == 1
    for _ in range(3):
        update = acc.backward(mean_loss(model, x, y), count=4)
    assert update.applied


def test_leaving_a_with_block_by_an_exception_applies_nothing() -> None:
    model, untouched = small_model(), small_model()
    x, y = samples(4)
    optimizer = sgd(model)
    with pytest.raises(KeyError), gradledger.Accumulator(model, optimizer, every=2) as acc:
        acc.backward(mean_loss(model, x, y), count=4)
        raise KeyError
    assert same_bits(model, untouched)
    with gradledger.Accumulator(model, optimizer, every=2) as acc:
        acc.backward(mean_loss(model, x, y), count=4)
    assert not same_bits(model, untouched)


def test_model_and_optimizer_still_copy_and_pickle(opened) -> None:
    model, optimizer, acc, _ = opened
    for twin in (copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))):
        twin.zero_grad()
        twin.step()
    copy.deepcopy(model)
    pickle.dumps(model)
    finish_and_compare(model, acc)


def test_break_leaves_windows_where_they_belong() -> None:
    """The short window is flushed before the next epoch; its windows begin anew."""
    x, y = samples(20)
    batches = cut(x, y, [4] * 5)
    model, reference = small_model(), small_model()
    optimizer, oracle = adamw(model), adamw(reference)
    acc = gradledger.Accumulator(model, optimizer, every=2)
    for number, (a, b) in enumerate(acc.batches(batches)):
        acc.backward(mean_loss(model, a, b), count=4)
        if number == 2:
            break
    assert acc.waiting == 1
    for a, b in acc.batches(batches):
        acc.backward(mean_loss(model, a, b), count=4)
    for inside in (slice(0, 8), slice(8, 12), slice(0, 8), slice(8, 16), slice(16, 20)):
        full_batch_step(reference, oracle, x[inside], y[inside])
    assert all(torch.allclose(p, q) for p, q in zip(model.parameters(), reference.parameters(), strict=True))


@pytest.mark.parametrize(("tail", "steps"), [("flush", 6), ("drop", 4), ("carry", 5)])
def test_the_tail_is_treated_as_declared(tail: str, steps: int) -> None:
    x, y = samples(20)
    model = small_model()
    acc = gradledger.Accumulator(model, sgd(model), every=2, tail=tail)
    for _ in range(2):
        for a, b in acc.batches(cut(x, y, [4] * 5)):
            acc.backward(mean_loss(model, a, b), count=4)
    assert acc.step == steps
    assert acc.waiting == 0


def test_own_loops_close_by_last_and_by_flush() -> None:
    x, y = samples(12)
    model, reference = small_model(), small_model()
    optimizer, oracle = sgd(model), sgd(reference)
    acc = gradledger.Accumulator(model, optimizer, every=8)
    batches = cut(x, y, [4, 4, 4])
    acc.backward(mean_loss(model, *batches[0]), count=4)
    assert acc.backward(mean_loss(model, *batches[1]), count=4, last=True).count == 8
    acc.backward(mean_loss(model, *batches[2]), count=4)
    assert acc.flush().micro_batches == 1
    assert acc.flush() is None
    full_batch_step(reference, oracle, x[:8], y[:8])
    full_batch_step(reference, oracle, x[8:], y[8:])
    assert all(torch.allclose(p, q) for p, q in zip(model.parameters(), reference.parameters(), strict=True))
