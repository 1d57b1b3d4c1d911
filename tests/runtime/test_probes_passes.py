"""Every way of running backward is booked in the accounts it really reached, at the user's line."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

from gradledger.ledger import events as ev
from tests.watched import watched


def here() -> int:
    """The caller's line."""
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno


def net() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))


def output(model: nn.Module) -> Tensor:
    return model(torch.randn(5, 3))


BACKWARDS: dict[str, Callable[[nn.Module], Any]] = {
    "Tensor.backward": lambda m: output(m).sum().backward(),
    "Tensor.backward(loss)": lambda m: Tensor.backward(output(m).sum()),
    "autograd.backward": lambda m: torch.autograd.backward(output(m).sum()),
    "autograd.backward of a list": lambda m: torch.autograd.backward([output(m).sum(), output(m).mean()]),
    "grad_tensors": lambda m: torch.autograd.backward(output(m), grad_tensors=torch.ones(5, 2)),
    "gradient=": lambda m: output(m).backward(gradient=torch.ones(5, 2)),
    "gradient, by position": lambda m: output(m).backward(torch.ones(5, 2)),
    "retain_graph": lambda m: output(m).sum().backward(retain_graph=True),
    "create_graph": lambda m: output(m).sum().backward(create_graph=True),
    "inputs= all": lambda m: output(m).sum().backward(inputs=list(m.parameters())),
    "in half precision": lambda m: output(m).bfloat16().sum().backward(),
    "complex": lambda m: (output(m) * 1j).abs().sum().backward(),
}


@pytest.mark.parametrize("run", BACKWARDS.values(), ids=BACKWARDS)
@pytest.mark.filterwarnings("ignore:Using backward")
def test_each_pass_is_one_entry(run: Callable[[nn.Module], Any]) -> None:
    model = net()
    with watched(model) as watch:
        for times in (1, 2, 3):
            run(model)
            assert watch.count(*model.parameters()) == [(times, 0)] * 4
        for p in model.parameters():
            p.grad = None  # not to leave a cycle behind
    assert len(watch.events(ev.BackwardRan)) == 3


@pytest.mark.parametrize("run", BACKWARDS.values(), ids=BACKWARDS)
@pytest.mark.filterwarnings("ignore:Using backward")
def test_each_pass_fills_the_optimizers_accounts(run: Callable[[nn.Module], Any]) -> None:
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with watched(model, optimizer) as watch:
        for _ in range(4):
            optimizer.zero_grad()
            run(model)
            optimizer.step()
            assert watch.count(*model.parameters()) == [(0, 1)] * 4
    assert watch.ledger.findings == ()
    assert watch.books.steps == 4


def test_only_the_inputs_named_are_filled() -> None:
    model = net()
    first, second = model[0].weight, model[2].weight
    with watched(model) as watch:
        output(model).sum().backward(inputs=[first])
        assert watch.count(first, second) == [(1, 0), (0, 0)]
        assert watch.balance(second).state == "none"
        torch.autograd.backward(output(model).sum(), inputs=second)
        assert watch.count(first, second) == [(1, 0), (1, 0)]
        assert watch.count(*model.parameters()) == [(1, 0), (0, 0), (1, 0), (0, 0)]


def test_a_part_outside_the_graph_gets_nothing() -> None:
    model, idle = net(), nn.Linear(2, 2)
    optimizer = torch.optim.SGD([*model.parameters(), *idle.parameters()], lr=0.1)
    with watched(model, idle, optimizer) as watch:
        output(model).sum().backward()
        assert watch.count(model[0].weight, idle.weight) == [(1, 0), (0, 0)]
        idle(output(model)).sum().backward()
        assert watch.count(model[0].weight, idle.weight) == [(2, 0), (1, 0)]


def test_autograd_grad_fills_nothing() -> None:
    model = net()
    with watched(model) as watch:
        grads = torch.autograd.grad(output(model).sum(), list(model.parameters()))
        assert watch.count(*model.parameters()) == [(0, 0)] * 4
    assert len(grads) == 4
    assert watch.books.backwards == 0


def test_a_penalty_on_gradients_is_one_pass() -> None:
    model = net()
    with watched(model) as watch:
        x = torch.randn(5, 3, requires_grad=True)
        (slope,) = torch.autograd.grad(model(x).sum(), x, create_graph=True)
        slope.square().sum().backward()
        assert watch.balance(model[0].weight).fresh == 1
    assert len(watch.events(ev.BackwardRan)) == 1


def test_the_entries_carry_their_lines() -> None:
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with watched(model, optimizer) as watch:
        output(model).sum().backward()
        first = here() - 1
        output(model).mean().backward()
        output(model).square().mean().backward()
        second = here() - 2
        entries = watch.balance(model[0].weight).entries
        assert [(e.site.line, e.micro_batches, e.used) for e in entries] == [
            (first, 1, False),
            (second, 1, False),
            (second + 1, 1, False),
        ]
        assert {e.site.path for e in entries} == {__file__}
        assert {e.site.function for e in entries} == {"test_the_entries_carry_their_lines"}
        optimizer.step()
        for _ in range(5):
            output(model).sum().backward()
            loop = here() - 1
        entries = watch.balance(model[0].weight).entries
        assert [(e.micro_batches, e.used) for e in entries] == [(3, True), (5, False)]
        assert entries[-1].site.line == loop
    assert sorted(set(watch.lines(ev.BackwardRan))) == [first, second, second + 1, loop]


def test_a_helper_of_the_user_is_the_users_line() -> None:
    def helper(loss: Tensor) -> int:
        loss.backward()
        return here() - 1

    model = net()
    with watched(model) as watch:
        line = helper(output(model).sum())
        (entry,) = watch.balance(model[0].weight).entries
        assert (entry.site.line, entry.site.function) == (line, "helper")


def test_a_backward_written_by_the_user_that_calls_torchs() -> None:
    class Loss(Tensor):
        def backward(self, *args: Any, **kwargs: Any) -> None:
            super().backward(*args, **kwargs)

    model = net()
    with watched(model) as watch:
        output(model).sum().as_subclass(Loss).backward()
        assert watch.balance(model[0].weight).fresh == 1


@pytest.mark.parametrize("sparse_first", [True, False])
def test_sparse_and_dense_gradients(sparse_first: bool) -> None:
    table, head = nn.Embedding(10, 4, sparse=True), nn.Linear(4, 1)
    optimizer = torch.optim.SGD([*table.parameters(), *head.parameters()], lr=0.1)
    with watched(table, head, optimizer) as watch:
        for _ in range(4):
            optimizer.zero_grad()
            head(table(torch.tensor([1, 2, 2]))).sum().backward()
            if sparse_first:
                table(torch.tensor([3])).sum().backward()
            expected = [(2, 0), (1, 0)] if sparse_first else [(1, 0), (1, 0)]
            assert watch.count(table.weight, head.weight) == expected
            assert table.weight.grad.is_sparse
            optimizer.step()
    assert watch.certain == []


def test_sparse_gradients_never_cleared_are_stale() -> None:
    table = nn.Embedding(10, 4, sparse=True)
    optimizer = torch.optim.SGD(table.parameters(), lr=0.1)
    with watched(table, optimizer) as watch:
        for _ in range(4):
            table(torch.tensor([1, 2, 2])).sum().backward()
            optimizer.step()
        assert watch.count(table.weight) == [(0, 4)]
    assert watch.codes == {"GL101"}


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpointing_is_one_pass(reentrant: bool) -> None:
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with watched(model, optimizer) as watch:
        for _ in range(6):
            optimizer.zero_grad()
            x = torch.randn(5, 3, requires_grad=reentrant)
            hidden = checkpoint(model[0], x, use_reentrant=reentrant)
            model[2](hidden.tanh()).square().mean().backward()
            line = here() - 1
            assert watch.count(*model.parameters()) == [(1, 0)] * 4
            optimizer.step()
    assert watch.ledger.findings == ()
    assert watch.books.backwards == 6
    assert set(watch.lines(ev.BackwardRan)) == {line}


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpointing_in_segments_never_cleared(reentrant: bool) -> None:
    model = nn.Sequential(*(nn.Linear(3, 3) for _ in range(4)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with watched(model, optimizer) as watch:
        for _ in range(4):
            x = torch.randn(5, 3, requires_grad=True)
            checkpoint_sequential(model, 2, x, use_reentrant=reentrant).square().mean().backward()
            line = here() - 1
            optimizer.step()
    assert watch.certain == [("GL101", line)]


def test_a_pass_that_fails_halfway_is_not_the_end_of_the_books() -> None:
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def hook(grad: Tensor) -> None:
        raise ArithmeticError

    with watched(model, optimizer) as watch:
        handle = model[0].weight.register_hook(hook)
        with pytest.raises(ArithmeticError):
            output(model).sum().backward()
        handle.remove()
        optimizer.zero_grad()
        for _ in range(3):
            optimizer.zero_grad()
            output(model).sum().backward()
            assert watch.count(*model.parameters()) == [(1, 0)] * 4
            optimizer.step()
    assert watch.certain == []
    assert watch.books.steps == 3


def test_shared_weights_are_one_account() -> None:
    model = nn.Sequential(nn.Embedding(6, 3), nn.Linear(3, 6, bias=False))
    model[1].weight = model[0].weight
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with watched(model, optimizer) as watch:
        for _ in range(4):
            optimizer.zero_grad()
            model(torch.tensor([1, 2])).square().mean().backward()
            assert watch.count(model[0].weight) == [(1, 0)]
            optimizer.step()
    assert watch.ledger.findings == ()


def test_parameters_frozen_and_thawed_later() -> None:
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    first, *_, last = model.parameters()
    with watched(model, optimizer) as watch:
        for phase in (True, False, True):
            first.requires_grad_(phase)
            for _ in range(3):
                optimizer.zero_grad()
                output(model).square().mean().backward()
                assert watch.count(first, last) == [(int(phase), 0), (1, 0)]
                optimizer.step()
    assert watch.certain == []


def test_a_model_that_turns_up_after_the_watch_began() -> None:
    with watched() as watch:
        for _ in range(2):
            model = net()
            optimizer = torch.optim.Adam(model.parameters())
            for _ in range(3):
                output(model).square().mean().backward()
                assert watch.count(*model.parameters()) == [(1, 0)] * 4
                optimizer.step()
                optimizer.zero_grad()
    assert watch.ledger.findings == ()
    assert watch.ledger.close().checked.steps == 6


def test_several_models_have_books_of_their_own() -> None:
    one, two = net(), net()
    first, second = (torch.optim.SGD(m.parameters(), lr=0.1) for m in (one, two))
    with watched(one, two, first, second) as watch:
        output(one).sum().backward()
        output(two).sum().backward()
        output(two).sum().backward()
        assert watch.count(one[0].weight, two[0].weight) == [(1, 0), (2, 0)]
        first.step()
        assert watch.count(one[0].weight, two[0].weight) == [(0, 1), (2, 0)]
        second.step()
        two.zero_grad()
        assert watch.count(one[0].weight, two[0].weight) == [(0, 1), (0, 0)]


def test_one_pass_through_two_models_reaches_both() -> None:
    one, two = nn.Linear(3, 3), nn.Linear(3, 3)
    first, second = (torch.optim.SGD(m.parameters(), lr=0.1) for m in (one, two))
    with watched(one, two, first, second) as watch:
        two(one(torch.ones(1, 3))).sum().backward()
        two(one(torch.ones(1, 3)).detach()).sum().backward()
        assert watch.count(one.weight, two.weight) == [(1, 0), (2, 0)]


def test_a_thread_of_its_own() -> None:
    import threading

    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def train() -> None:
        for _ in range(5):
            optimizer.zero_grad()
            output(model).square().mean().backward()
            optimizer.step()

    with watched(model, optimizer) as watch:
        thread = threading.Thread(target=train)
        thread.start()
        thread.join()
    assert watch.ledger.findings == ()
    assert watch.books.backwards == 5


def test_half_precision_parameters() -> None:
    model = net().to(torch.bfloat16)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with watched(model, optimizer) as watch:
        for _ in range(4):
            model(torch.randn(5, 3, dtype=torch.bfloat16)).sum().backward()
            optimizer.step()
        assert watch.count(model[0].weight) == [(0, 4)]
    assert watch.codes == {"GL101"}


def test_a_parameter_nobody_told_us_about() -> None:
    weight = torch.ones(3, requires_grad=True)
    with watched() as watch:
        assert watch.balance(weight).state == "none"
        (weight * 2).sum().backward()
        (weight * 3).sum().backward()
        assert watch.count(weight) == [(2, 0)]
        stranger = torch.ones(2, requires_grad=True)
        stranger.grad = torch.ones(2)
        assert watch.balance(stranger).state == "assigned"
        assert watch.balance(stranger).entries == ()
