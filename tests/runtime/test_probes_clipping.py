"""Clipping is seen under all its names, with what it found and whether a step used it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from gradledger.ledger import events as ev
from tests.watched import watched


def here() -> int:
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno


def pair() -> tuple[nn.Sequential, torch.optim.Optimizer]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    return model, torch.optim.SGD(model.parameters(), lr=0.1)


def loss_of(model: nn.Module) -> Tensor:
    return model(torch.randn(5, 3)).square().mean()


CLIPS: dict[str, Callable[[nn.Module], Any]] = {
    "norm": lambda m: nn.utils.clip_grad_norm_(m.parameters(), 0.1),
    "norm, by its other name": lambda m: nn.utils.clip_grad.clip_grad_norm_(m.parameters(), 0.1),
    "norm of a list": lambda m: nn.utils.clip_grad_norm_(list(m.parameters()), max_norm=0.1),
    "norm, all named": lambda m: nn.utils.clip_grad_norm_(parameters=m.parameters(), max_norm=0.1),
    "value": lambda m: nn.utils.clip_grad_value_(m.parameters(), 0.001),
    "value, named": lambda m: nn.utils.clip_grad_value_(m.parameters(), clip_value=0.001),
    "a norm known already": lambda m: nn.utils.clip_grads_with_norm_(m.parameters(), 0.1, torch.tensor(2.0)),
}


@pytest.mark.parametrize("clip", CLIPS.values(), ids=CLIPS)
def test_clipping_between_backward_and_step_is_right(clip: Callable[[nn.Module], Any]) -> None:
    model, optimizer = pair()
    with watched(model, optimizer) as watch:
        for _ in range(4):
            optimizer.zero_grad()
            loss_of(model).backward()
            clip(model)
            assert watch.count(*model.parameters()) == [(1, 0)] * 4
            optimizer.step()
    assert watch.ledger.findings == ()
    assert len(watch.events(ev.GradientsClipped)) == 4
    assert not watch.events(ev.GradientChanged)  # not taken for a change by hand
    (book,) = watch.books.clips.values()
    assert (book.calls, book.used, book.idle) == (4, 4, 0)


@pytest.mark.parametrize("clip", CLIPS.values(), ids=CLIPS)
def test_clipping_after_the_step_is_reported(clip: Callable[[nn.Module], Any]) -> None:
    model, optimizer = pair()
    with watched(model, optimizer) as watch:
        for _ in range(4):
            optimizer.zero_grad()
            loss_of(model).backward()
            optimizer.step()
            clip(model)
    assert watch.codes == {"GL304"}


@pytest.mark.parametrize("bound", [float("inf"), torch.tensor(float("inf"))], ids=["float", "tensor"])
def test_an_infinite_bound_only_measures(bound: Any) -> None:
    model, optimizer = pair()
    with watched(model, optimizer) as watch:
        for _ in range(4):
            optimizer.zero_grad()
            loss_of(model).backward()
            optimizer.step()
            norm = nn.utils.clip_grad_norm_(model.parameters(), bound)
    assert float(norm) > 0
    assert watch.ledger.findings == ()
    assert all(event.only_measures for event in watch.events(ev.GradientsClipped))


def test_a_single_tensor() -> None:
    model, optimizer = pair()
    weight = model[0].weight
    with watched(model, optimizer) as watch:
        for _ in range(4):
            optimizer.zero_grad()
            loss_of(model).backward()
            nn.utils.clip_grad_norm_(weight, 0.01)
            line = here() - 1
            assert float(weight.grad.norm()) <= 0.01 + 1e-6
            optimizer.step()
    assert watch.ledger.findings == ()
    (event,) = set(watch.events(ev.GradientsClipped))
    assert (event.site.line, len(event.accounts)) == (line, 1)


def test_the_norm_is_returned_and_the_gradient_bounded_as_ever() -> None:
    model, _ = pair()
    loss_of(model).backward()
    before = [p.grad.clone() for p in model.parameters()]
    plain = nn.utils.clip_grad_norm_(model.parameters(), 0.01)
    clipped = [p.grad.clone() for p in model.parameters()]
    with watched(model):
        for p, grad in zip(model.parameters(), before, strict=True):
            p.grad = grad
        assert torch.equal(nn.utils.clip_grad_norm_(model.parameters(), 0.01), plain)
        assert all(torch.equal(p.grad, g) for p, g in zip(model.parameters(), clipped, strict=True))


def test_clipping_each_micro_batch_is_reported_at_the_clip() -> None:
    model, optimizer = pair()
    with watched(model, optimizer) as watch:
        for i in range(16):
            (loss_of(model) / 4).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.01)
            line = here() - 1
            if (i + 1) % 4 == 0:
                optimizer.step()
                optimizer.zero_grad()
    assert watch.certain == [("GL307", line)]


def test_parameters_of_another_model_are_reported_at_the_clip() -> None:
    model, optimizer = pair()
    other, others = pair()
    with watched() as watch:
        for _ in range(5):
            others.zero_grad()
            loss_of(other).backward()
            others.step()
            optimizer.zero_grad()
            loss_of(model).backward()
            nn.utils.clip_grad_norm_(other.parameters(), 0.1)
            line = here() - 1
            optimizer.step()
    assert watch.certain == [("GL309", line)]


def test_that_a_model_is_in_no_optimizer_tells_of_its_clip_as_well() -> None:
    model, optimizer = pair()
    other, _ = pair()
    with watched() as watch:
        for _ in range(5):
            optimizer.zero_grad()
            (loss_of(model) + loss_of(other)).backward()
            line = here() - 1
            nn.utils.clip_grad_norm_(other.parameters(), 0.1)
            optimizer.step()
            other.zero_grad()
    assert watch.certain == [("GL402", line)]


def test_clipping_written_by_hand_is_a_change() -> None:
    model, optimizer = pair()
    with watched(model, optimizer) as watch:
        for _ in range(4):
            optimizer.zero_grad()
            loss_of(model).backward()
            norm = torch.linalg.vector_norm(torch.stack([p.grad.norm() for p in model.parameters()]))
            for p in model.parameters():
                p.grad.mul_(0.01 / norm)
            assert watch.count(*model.parameters()) == [(1, 0)] * 4
            optimizer.step()
    assert watch.ledger.findings == ()
    assert watch.events(ev.GradientChanged)


def test_an_empty_generator_is_not_our_fault() -> None:
    model, optimizer = pair()
    with watched(model, optimizer) as watch, pytest.warns(UserWarning, match="empty generator"):
        for _ in range(3):
            optimizer.zero_grad()
            loss_of(model).backward()
            parameters = model.parameters()
            list(parameters)
            nn.utils.clip_grad_norm_(parameters, 1.0)
            optimizer.step()
    assert watch.books.steps == 3
