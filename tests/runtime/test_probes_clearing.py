"""Every way of clearing a gradient is seen as what it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import gradledger
from gradledger.ledger import events as ev
from tests.watched import Watched, watched

Clear = Callable[[nn.Module, torch.optim.Optimizer], Any]


def each(action: Callable[[nn.Parameter], Any]) -> Clear:
    def clear(model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        for p in model.parameters():
            action(p)

    return clear


def assign_none(p: nn.Parameter) -> None:
    p.grad = None


def delete(p: nn.Parameter) -> None:
    del p.grad


def assign_zeros(p: nn.Parameter) -> None:
    p.grad = torch.zeros_like(p)


def zero_under_no_grad(p: nn.Parameter) -> None:
    with torch.no_grad():
        p.grad *= 0


def foreach_zero(model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    torch._foreach_zero_([p.grad for p in model.parameters()])


def from_groups(model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    for group in optimizer.param_groups:
        for p in group["params"]:
            p.grad = None


WAYS: dict[str, tuple[Clear, str]] = {
    "optimizer.zero_grad()": (lambda m, o: o.zero_grad(), "none"),
    "optimizer.zero_grad(set_to_none=True)": (lambda m, o: o.zero_grad(set_to_none=True), "none"),
    "optimizer.zero_grad(set_to_none=False)": (lambda m, o: o.zero_grad(set_to_none=False), "zero"),
    "optimizer.zero_grad(False)": (lambda m, o: o.zero_grad(False), "zero"),
    "Optimizer.zero_grad(optimizer)": (lambda m, o: torch.optim.Optimizer.zero_grad(o), "none"),
    "model.zero_grad()": (lambda m, o: m.zero_grad(), "none"),
    "model.zero_grad(set_to_none=False)": (lambda m, o: m.zero_grad(set_to_none=False), "zero"),
    "p.grad = None": (each(assign_none), "none"),
    "del p.grad": (each(delete), "none"),
    "p.grad = zeros": (each(assign_zeros), "zero"),
    "p.grad.zero_()": (each(lambda p: p.grad.zero_()), "zero"),
    "p.grad.data.zero_()": (each(lambda p: p.grad.data.zero_()), "zero"),
    "p.grad.detach_().zero_()": (each(lambda p: p.grad.detach_().zero_()), "zero"),
    "p.grad.detach().zero_()": (each(lambda p: p.grad.detach().zero_()), "zero"),
    "p.grad.fill_(0)": (each(lambda p: p.grad.fill_(0)), "zero"),
    "p.grad.mul_(0)": (each(lambda p: p.grad.mul_(0)), "zero"),
    "p.grad *= 0": (each(zero_under_no_grad), "zero"),
    "p.grad[...] = 0": (each(lambda p: p.grad.__setitem__(..., 0)), "zero"),
    "p.grad.copy_(zeros)": (each(lambda p: p.grad.copy_(torch.zeros_like(p))), "zero"),
    "_foreach_zero_": (foreach_zero, "zero"),
    "the optimizer's groups": (from_groups, "none"),
    "model.apply": (lambda m, o: m.apply(lambda part: part.zero_grad()), "none"),
}


def pair() -> tuple[nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    return model, torch.optim.SGD(model.parameters(), lr=0.1)


def effective(watch: Watched) -> int:
    """How often a clearing emptied something."""
    return sum(tally.effective for tally in watch.books.clears.values())


@pytest.mark.parametrize(("clear", "state"), WAYS.values(), ids=WAYS)
def test_a_clearing_after_the_step_closes_the_books(clear: Clear, state: str) -> None:
    model, optimizer = pair()
    x = torch.randn(4, 3)
    with watched(model, optimizer) as watch:
        for _ in range(12):
            model(x).square().mean().backward()
            optimizer.step()
            clear(model, optimizer)
        model(x).square().mean().backward()
        for p in model.parameters():
            sheet = watch.balance(p)
            assert (sheet.state, sheet.fresh, sheet.stale) == ("held", 1, 0)
        clear(model, optimizer)
        optimizer.step()
    assert effective(watch) >= 12
    assert "GL101" not in watch.codes


@pytest.mark.parametrize(
    ("clear", "state"),
    [way for name, way in WAYS.items() if "data" not in name],
    ids=[name for name in WAYS if "data" not in name],
)
def test_the_balance_is_empty_right_after_a_clearing(clear: Clear, state: str) -> None:
    model, optimizer = pair()
    with watched(model, optimizer) as watch:
        model(torch.ones(1, 3)).sum().backward()
        assert [watch.balance(p).fresh for p in model.parameters()] == [1] * 4
        clear(model, optimizer)
        for p in model.parameters():
            assert (watch.balance(p).state, watch.balance(p).entries) == (state, ())


@pytest.mark.parametrize(
    ("clear", "state"),
    [way for name, way in WAYS.items() if "data" not in name],
    ids=[name for name in WAYS if "data" not in name],
)
def test_a_clearing_before_the_step_is_reported_at_its_own_line(clear: Clear, state: str) -> None:
    model, optimizer = pair()
    x = torch.randn(4, 3)
    with watched(model, optimizer) as watch:
        for _ in range(6):
            model(x).square().mean().backward()
            clear(model, optimizer)
            optimizer.step()
    assert watch.codes == {"GL102"}


def data_zeroed(model: nn.Module, optimizer: torch.optim.Optimizer, x: torch.Tensor) -> None:
    model(x).square().mean().backward()
    for p in model.parameters():
        p.grad.data.zero_()  # data zeroed
    optimizer.step()


def data_filled(model: nn.Module, optimizer: torch.optim.Optimizer, x: torch.Tensor) -> None:
    model(x).square().mean().backward()
    for p in model.parameters():
        p.grad.data.fill_(0.0)  # data filled
    optimizer.step()


def data_multiplied(model: nn.Module, optimizer: torch.optim.Optimizer, x: torch.Tensor) -> None:
    model(x).square().mean().backward()
    for p in model.parameters():
        p.grad.data *= 0  # data multiplied
    optimizer.step()


def data_zeroed_together(model: nn.Module, optimizer: torch.optim.Optimizer, x: torch.Tensor) -> None:
    model(x).square().mean().backward()
    torch._foreach_zero_([p.grad.data for p in model.parameters()])  # data zeroed together
    optimizer.step()


def data_zeroed_elsewhere(model: nn.Module, optimizer: torch.optim.Optimizer, x: torch.Tensor) -> None:
    model(x).square().mean().backward()
    wipe(model)
    optimizer.step()


def wipe(model: nn.Module) -> None:
    for p in model.parameters():
        p.grad.data.zero_()  # data zeroed elsewhere


@pytest.mark.parametrize(
    "turn", [data_zeroed, data_filled, data_multiplied, data_zeroed_together, data_zeroed_elsewhere]
)
def test_a_clearing_behind_the_version_counter_is_reported_before_the_step(turn: Callable[..., None]) -> None:
    model, optimizer = pair()
    x = torch.randn(4, 3)
    with watched(model, optimizer) as watch:
        for _ in range(6):
            turn(model, optimizer, x)
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    mark = f"# {turn.__name__.replace('_', ' ')}"
    line = next(number for number, text in enumerate(lines, 1) if text.endswith(mark))
    assert watch.certain == [("GL102", line)]


def test_a_clearing_behind_the_version_counter_is_reported_late_in_a_long_run() -> None:
    model, optimizer = pair()
    x = torch.randn(4, 3)
    with gradledger.watch(model, optimizer) as ledger:
        for turn in range(300):
            optimizer.zero_grad()
            model(x).square().mean().backward()
            if turn > 100:
                for p in model.parameters():
                    p.grad.data.zero_()
            optimizer.step()
    (finding,) = ledger.findings
    assert (finding.code, finding.count, finding.first_step) == ("GL102", 199, 102)


def test_gradients_that_are_zero_by_themselves_are_not_cleared() -> None:
    model, optimizer = pair()
    x = torch.randn(4, 3)
    with watched(model, optimizer) as watch:
        for turn in range(6):
            optimizer.zero_grad()
            (model(x) * (turn % 2)).sum().backward()
            for p in model.parameters():
                p.grad.data.clamp_(-1.0, 1.0)
            optimizer.step()
    assert watch.codes == set()


@pytest.mark.parametrize(("clear", "state"), WAYS.values(), ids=WAYS)
def test_without_the_clearing_the_same_loop_is_reported(clear: Clear, state: str) -> None:
    model, optimizer = pair()
    x = torch.randn(4, 3)
    with watched(model, optimizer) as watch:
        clear_once = [clear]
        for _ in range(6):
            model(x).square().mean().backward()
            optimizer.step()
            if clear_once:
                clear_once.pop()(model, optimizer)
        assert all(watch.balance(p).stale == 5 for p in model.parameters())
    assert "GL101" in watch.codes


def test_clearing_one_parameter_leaves_the_others_accounts_alone() -> None:
    model, optimizer = pair()
    first, *others = model.parameters()
    with watched(model, optimizer) as watch:
        model(torch.ones(1, 3)).sum().backward()
        first.grad = None
        assert watch.balance(first).state == "none"
        assert [watch.balance(p).fresh for p in others] == [1, 1, 1]
        model(torch.ones(1, 3)).sum().backward()
        assert [watch.balance(p).fresh for p in (first, *others)] == [1, 2, 2, 2]


def test_clearing_one_of_two_models() -> None:
    (one, _), (other, second) = pair(), pair()
    with watched() as watch:
        (one(torch.ones(1, 3)) + other(torch.ones(1, 3))).sum().backward()
        one.zero_grad()
        assert [watch.balance(p).fresh for p in one.parameters()] == [0] * 4
        assert [watch.balance(p).fresh for p in other.parameters()] == [1] * 4
        second.zero_grad()
        assert [watch.balance(p).state for p in other.parameters()] == ["none"] * 4


def test_zeroing_a_submodule() -> None:
    model, optimizer = pair()
    with watched(model, optimizer) as watch:
        model(torch.ones(1, 3)).sum().backward()
        model[0].zero_grad()
        assert [watch.balance(p).fresh for p in model.parameters()] == [0, 0, 1, 1]


def test_a_gradient_made_smaller_is_not_cleared() -> None:
    model, optimizer = pair()
    with watched(model, optimizer) as watch:
        model(torch.ones(1, 3)).sum().backward()
        for p in model.parameters():
            p.grad.mul_(0.5)
        assert [watch.balance(p).fresh for p in model.parameters()] == [1] * 4
    assert watch.events(ev.GradientChanged)
    assert not watch.events(ev.GradientCleared)


def test_a_gradient_assigned_by_hand_is_said_to_be_assigned() -> None:
    model, optimizer = pair()
    with watched(model, optimizer) as watch:
        model(torch.ones(1, 3)).sum().backward()
        for p in model.parameters():
            p.grad = torch.ones_like(p)
        assert [watch.balance(p).state for p in model.parameters()] == ["assigned"] * 4
        optimizer.step()
    assert not watch.events(ev.GradientCleared)
    assert watch.certain == []


def test_gradients_that_were_there_before_the_audit_are_the_programs() -> None:
    model, optimizer = pair()
    model(torch.ones(1, 3)).sum().backward()
    with watched(model, optimizer) as watch:
        assert {watch.balance(p).state for p in model.parameters()} == {"assigned"}
        model(torch.ones(1, 3)).sum().backward()
        assert {(watch.balance(p).fresh, watch.balance(p).stale) for p in model.parameters()} == {(1, 0)}
        optimizer.step()
    assert watch.ledger.findings == ()


def test_zero_grad_overridden_by_the_user() -> None:
    class Patient(torch.optim.SGD):
        def zero_grad(self, set_to_none: bool = True) -> None:
            for group in self.param_groups:
                for p in group["params"]:
                    p.grad = None

    model, _ = pair()
    optimizer = Patient(model.parameters(), lr=0.1)
    with watched(model, optimizer) as watch:
        for _ in range(5):
            optimizer.zero_grad()
            model(torch.randn(4, 3)).square().mean().backward()
            optimizer.step()
    assert watch.ledger.findings == ()
    assert effective(watch) == 4


def test_inputs_gradients_do_not_disturb_the_books() -> None:
    model, optimizer = pair()
    with watched(model, optimizer) as watch:
        for _ in range(5):
            optimizer.zero_grad()
            x = torch.randn(4, 3, requires_grad=True)
            model(x).square().mean().backward()
            assert watch.balance(x).fresh == 1
            optimizer.step()
    assert watch.ledger.findings == ()
