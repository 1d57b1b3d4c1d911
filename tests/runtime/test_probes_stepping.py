"""Every step is seen: of torch's optimizers and the user's, with closures, in hooks, and written by hand."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from gradledger.ledger import events as ev
from tests.watched import Watched, watched


def here() -> int:
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno


def net() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))


def loss_of(model: nn.Module) -> Tensor:
    return model(torch.randn(5, 3)).square().mean()


class Lion(torch.optim.Optimizer):
    """Written by the user, as in the papers' code."""

    def __init__(self, params: Any, lr: float = 1e-3) -> None:
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.add_(p.grad.sign(), alpha=-group["lr"])
        return loss


class Heavier(torch.optim.SGD):
    """Adds to torch's step."""

    def step(self, closure: Any = None) -> Any:
        result = super().step(closure)
        for group in self.param_groups:
            for p in group["params"]:
                p.data.mul_(0.999)
        return result


class Wrapping(torch.optim.Optimizer):
    """Hands the step on to another optimizer, as Lookahead does."""

    def __init__(self, inner: torch.optim.Optimizer) -> None:
        self.inner = inner
        super().__init__(inner.param_groups, inner.defaults)

    def step(self, closure: Any = None) -> Any:
        return self.inner.step(closure)


BUILD: dict[str, Callable[[Any], torch.optim.Optimizer]] = {
    "SGD": lambda p: torch.optim.SGD(p, lr=0.01),
    "Adam": lambda p: torch.optim.Adam(p),
    "AdamW fused": lambda p: torch.optim.AdamW(p, fused=True),
    "Adagrad": lambda p: torch.optim.Adagrad(p),
    "NAdam": lambda p: torch.optim.NAdam(p),
    "Rprop": lambda p: torch.optim.Rprop(p),
    "Lion": Lion,
    "Heavier": lambda p: Heavier(p, lr=0.01),
    "Wrapping": lambda p: Wrapping(torch.optim.SGD(p, lr=0.01)),
}


@pytest.mark.parametrize("build", BUILD.values(), ids=BUILD)
def test_a_right_loop_is_booked_step_by_step(build: Callable[[Any], torch.optim.Optimizer]) -> None:
    with watched() as watch:
        model = net()
        optimizer = build(model.parameters())
        for _ in range(5):
            optimizer.zero_grad()
            loss_of(model).backward()
            assert watch.count(*model.parameters()) == [(1, 0)] * 4
            optimizer.step()
            line = here() - 1
            assert watch.count(*model.parameters()) == [(0, 1)] * 4
    assert watch.ledger.findings == ()
    assert watch.lines(ev.OptimizerStepped) == [line] * 5


@pytest.mark.parametrize("build", BUILD.values(), ids=BUILD)
def test_a_step_repeated_is_found(build: Callable[[Any], torch.optim.Optimizer]) -> None:
    model = net()
    optimizer = build(model.parameters())
    with watched(model, optimizer) as watch:
        for _ in range(5):
            optimizer.zero_grad()
            loss_of(model).backward()
            optimizer.step()
            optimizer.step()
            line = here() - 1
    assert watch.certain == [("GL105", line)]
    assert watch.books.steps == 10


def test_an_optimizer_built_before_and_not_told_of() -> None:
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with watched() as watch:
        for _ in range(4):
            loss_of(model).backward()
            line = here() - 1
            optimizer.step()
        # what happened before the optimizer was first seen counts as well
        assert watch.count(model[0].weight) == [(0, 4)]
    assert watch.certain == [("GL101", line)]


# -- closures --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("build", [BUILD["SGD"], BUILD["Adam"], Lion], ids=["SGD", "Adam", "Lion"])
@pytest.mark.parametrize("named", [True, False])
def test_a_closure_evaluated_once(build: Callable[[Any], torch.optim.Optimizer], named: bool) -> None:
    model = net()
    optimizer = build(model.parameters())
    calls = []

    def closure() -> Tensor:
        optimizer.zero_grad()
        loss = loss_of(model)
        loss.backward()
        calls.append(watch.count(model[0].weight))
        return loss

    with watched(model, optimizer) as watch:
        for _ in range(4):
            value = optimizer.step(closure=closure) if named else optimizer.step(closure)
            assert isinstance(value, Tensor)
    assert calls == [[(1, 0)]] * 4
    assert watch.ledger.findings == ()
    assert watch.books.steps == 4


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_a_closure_evaluated_often(search: str | None) -> None:
    model = net()
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=6, line_search_fn=search)
    x, y = torch.randn(8, 3), torch.randn(8, 2)
    calls = 0

    def closure() -> Tensor:
        nonlocal calls
        calls += 1
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        return loss

    with watched(model, optimizer) as watch:
        for _ in range(3):
            optimizer.step(closure)
    assert calls > 6
    assert watch.ledger.findings == ()
    assert (watch.books.steps, watch.books.backwards) == (3, calls)
    assert len(watch.events(ev.ClosureEvaluated)) == calls - 3


def test_a_closure_that_never_clears() -> None:
    model = net()
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.01, max_iter=4)
    x, y = torch.randn(8, 3), torch.randn(8, 2)
    lines = []

    def closure() -> Tensor:
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        lines.append(here() - 1)
        return loss

    with watched(model, optimizer) as watch:
        for _ in range(3):
            optimizer.step(closure)
    assert watch.certain == [("GL101", lines[0])]


def test_a_closure_that_raises_leaves_the_books_open() -> None:
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def closure() -> Tensor:
        raise LookupError

    with watched(model, optimizer) as watch:
        with pytest.raises(LookupError):
            optimizer.step(closure)
        for _ in range(3):
            optimizer.zero_grad()
            loss_of(model).backward()
            optimizer.step()
    assert watch.certain == []
    assert watch.books.steps == 3


# -- steps inside backward -------------------------------------------------------------------------------


def in_backward(model: nn.Module, watch: Watched, *, clears: bool) -> None:
    """One optimizer for each parameter, stepped as soon as its gradient is there."""
    optimizers = {p: torch.optim.SGD([p], lr=0.01) for p in model.parameters()}

    def hook(p: Tensor) -> None:
        optimizers[p].step()
        if clears:
            optimizers[p].zero_grad()

    for p in model.parameters():
        p.register_post_accumulate_grad_hook(hook)
    for _ in range(5):
        loss_of(model).backward()


def test_an_optimizer_in_backward() -> None:
    with watched() as watch:
        model = net()
        in_backward(model, watch, clears=True)
        assert watch.count(*model.parameters()) == [(0, 0)] * 4
    assert watch.ledger.findings == ()
    assert watch.books.steps == 20


def test_an_optimizer_in_backward_that_never_clears() -> None:
    with watched() as watch:
        model = net()
        in_backward(model, watch, clears=False)
        assert [stale for _, stale in watch.count(*model.parameters())] == [5] * 4
    assert watch.codes == {"GL101"}


def test_a_step_in_a_hook_of_the_loss() -> None:
    """The whole model's optimizer, stepped by a hook of its last parameter to be filled."""
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with watched(model, optimizer) as watch:
        torch.autograd.graph.register_multi_grad_hook(list(model.parameters()), lambda grads: None)
        for _ in range(4):
            loss_of(model).backward()
            optimizer.step()
            optimizer.zero_grad()
    assert watch.ledger.findings == ()


def test_step_hooks_of_the_user_that_clear() -> None:
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    optimizer.register_step_post_hook(lambda opt, args, kwargs: opt.zero_grad())
    with watched(model, optimizer) as watch:
        for _ in range(4):
            loss_of(model).backward()
            optimizer.step()
            assert watch.count(model[0].weight) == [(0, 0)]
    assert watch.ledger.findings == ()
    assert watch.books.steps == 4


# -- parameters that come later --------------------------------------------------------------------------


def test_a_group_added_later() -> None:
    model, head = net(), nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with watched(model, optimizer) as watch:
        for turn in range(6):
            if turn == 3:
                optimizer.add_param_group({"params": head.parameters(), "lr": 0.01})
            optimizer.zero_grad()
            head(model(torch.randn(5, 3))).square().mean().backward()
            optimizer.step()
            if turn >= 3:
                assert watch.count(model[0].weight, head.weight) == [(0, 1), (0, 1)]
                assert watch.balance(head.weight).state == "held"
    stepped = watch.events(ev.OptimizerStepped)
    assert len(stepped[0].accounts) < len(stepped[-1].accounts)
    assert "GL101" not in watch.codes


def test_a_group_added_and_never_cleared() -> None:
    model, head = net(), nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer.add_param_group({"params": head.parameters()})
    with watched() as watch:
        for _ in range(5):
            model.zero_grad()
            head(model(torch.randn(5, 3))).square().mean().backward()
            optimizer.step()
        assert watch.count(model[0].weight, head.weight) == [(0, 1), (0, 5)]
    assert watch.codes == {"GL101"}


def test_a_parameter_outside_the_optimizer() -> None:
    model, forgotten = net(), nn.Linear(2, 1)
    model.add_module("head", forgotten)
    optimizer = torch.optim.SGD([*model[0].parameters(), *model[2].parameters()], lr=0.1)
    with watched() as watch:
        for _ in range(5):
            optimizer.zero_grad()
            model(torch.randn(5, 3)).square().mean().backward()
            optimizer.step()
        assert watch.count(model[0].weight, forgotten.weight) == [(0, 1), (5, 0)]
    assert watch.codes == {"GL402"}


def test_two_optimizers_that_share_parameters() -> None:
    model = net()
    first = torch.optim.SGD(model.parameters(), lr=0.01)
    second = torch.optim.Adam(model.parameters())
    with watched(model) as watch:
        for optimizer in (first, second):
            for _ in range(4):
                optimizer.zero_grad()
                loss_of(model).backward()
                optimizer.step()
                assert watch.count(*model.parameters()) == [(0, 1)] * 4
    assert watch.ledger.findings == ()
    assert watch.books.steps == 8


def test_a_step_without_any_gradient() -> None:
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with watched(model, optimizer) as watch:
        for _ in range(4):
            optimizer.zero_grad()
            loss_of(model)
            optimizer.step()
            line = here() - 1
    assert watch.certain == [("GL106", line)]


def test_an_update_written_by_hand_is_a_step() -> None:
    weight = torch.randn(3, requires_grad=True)
    with watched() as watch:
        for _ in range(5):
            (weight * torch.randn(3)).sum().square().backward()
            line = here() - 1
            with torch.no_grad():
                weight -= 0.01 * weight.grad
    assert watch.certain == [("GL101", line)]


def test_an_update_written_by_hand_with_its_clearing() -> None:
    weight = torch.randn(3, requires_grad=True)
    with watched() as watch:
        for _ in range(5):
            (weight * torch.randn(3)).sum().square().backward()
            with torch.no_grad():
                weight -= 0.01 * weight.grad
                weight.grad.zero_()
        assert watch.count(weight) == [(0, 0)]
    assert watch.ledger.findings == ()


def test_nonfinite_gradients_that_are_applied() -> None:
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with watched(model, optimizer) as watch:
        for turn in range(40):
            optimizer.zero_grad()
            loss = loss_of(model)
            (loss * float("nan") if turn == 30 else loss).backward()
            optimizer.step()
            line = here() - 1
    assert watch.certain == [("GL306", line)]
    nonfinite = [number for number, step in enumerate(watch.events(ev.OptimizerStepped)) if step.nonfinite]
    assert nonfinite[0] == 30


def test_a_window_waits_for_its_step() -> None:
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with watched(model, optimizer) as watch:
        for i in range(12):
            (loss_of(model) / 4).backward()
            assert watch.count(model[0].weight) == [(i % 4 + 1, 0)]
            if (i + 1) % 4 == 0:
                optimizer.step()
                assert watch.count(model[0].weight) == [(0, 4)]
                optimizer.zero_grad()
    assert watch.ledger.findings == ()
    (book,) = (book for number, book in watch.books.optimizers.items() if number is not None)
    assert book.sequence.sizes() == [(4, 3)]
