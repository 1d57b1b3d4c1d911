"""A program under audit computes, raises and warns exactly what it does without."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy
import pytest
import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset

import gradledger
from tests.replicas import together

Program = Callable[[], Any]


def raw(thing: Any) -> Any:
    """Everything that a program left behind, tensors as their very bits."""
    if hasattr(thing, "to_local"):
        thing = thing.to_local()
    if isinstance(thing, Tensor):
        thing = thing.detach().coalesce().to_dense() if thing.is_sparse else thing.detach()
        return (
            str(thing.dtype),
            tuple(thing.shape),
            thing.contiguous().view(-1).view(torch.uint8).numpy().tobytes(),
        )
    if isinstance(thing, dict):
        return {key: raw(value) for key, value in thing.items()}
    if isinstance(thing, (list, tuple)):
        return [raw(item) for item in thing]
    return thing


def outcome(program: Program) -> Any:
    """What the program returns and how it leaves the generators of random numbers."""
    torch.manual_seed(1)
    random.seed(1)
    numpy.random.seed(1)
    left = raw(program())
    numbers = numpy.random.get_state()
    return left, raw(torch.get_rng_state()), random.getstate(), numbers[1].tobytes(), numbers[2:]


def assert_unchanged(program: Program, *, steps: int) -> None:
    plain = outcome(program)
    ledger = gradledger.watch()
    try:
        audited = outcome(program)
    finally:
        answer = ledger.close()
    assert audited == plain
    assert answer.checked.steps == steps  # it was audited indeed
    assert not any("fault of its own" in note for note in answer.notes), answer.notes


def network(*, dropout: float = 0.0) -> nn.Sequential:
    return nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Dropout(dropout), nn.Linear(16, 3), nn.LayerNorm(3))


def data(count: int = 48, batch: int = 8) -> DataLoader:
    x = torch.randn(count, 6)
    return DataLoader(TensorDataset(x, x[:, :3].sin()), batch_size=batch, shuffle=True)


def everything(model: nn.Module, *others: Any) -> list[Any]:
    """Weights, gradients, buffers and the states of what was used in training."""
    gradients = [p.grad for p in model.parameters()]
    return [model.state_dict(), gradients, *(other.state_dict() for other in others)]


OPTIMIZERS: dict[str, Callable[[Any], torch.optim.Optimizer]] = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.05, foreach=False),
    "sgd foreach": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True, foreach=True),
    "sgd fused": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, fused=True),
    "adam": lambda p: torch.optim.Adam(p, lr=0.01, foreach=False),
    "adam foreach": lambda p: torch.optim.Adam(p, lr=0.01, amsgrad=True, foreach=True),
    "adam fused": lambda p: torch.optim.Adam(p, lr=0.01, fused=True),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.01),
    "adamw foreach": lambda p: torch.optim.AdamW(p, lr=0.01, foreach=True),
    "adamw fused": lambda p: torch.optim.AdamW(p, lr=0.01, fused=True),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.01),
    "adagrad": lambda p: torch.optim.Adagrad(p, lr=0.01),
}


@pytest.mark.parametrize("build", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_every_kind_of_step(build: Callable[[Any], torch.optim.Optimizer]) -> None:
    def program() -> Any:
        model = network()
        optimizer = build(model.parameters())
        losses = []
        for _ in range(3):
            for x, y in data():
                optimizer.zero_grad()
                loss = nn.functional.mse_loss(model(x), y)
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
        return [losses, everything(model, optimizer)]

    assert_unchanged(program, steps=18)


def test_a_mistaken_program_goes_on_being_mistaken() -> None:
    def program() -> Any:
        model = network()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
        for _ in range(30):
            x = torch.randn(8, 6)
            model(x).square().mean().backward()
            optimizer.step()
        return everything(model, optimizer)

    assert_unchanged(program, steps=30)


@pytest.mark.parametrize("to_none", [True, False], ids=["to none", "to zero"])
def test_accumulation_with_clipping_and_a_schedule(to_none: bool) -> None:
    def program() -> Any:
        model = network()
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
        scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.05, total_steps=12)
        norms = []
        for _ in range(2):
            for i, (x, y) in enumerate(data(batch=4)):
                (nn.functional.mse_loss(model(x), y) / 4).backward()
                if i % 4 == 3:
                    norms.append(nn.utils.clip_grad_norm_(model.parameters(), 0.1))
                    nn.utils.clip_grad_value_(model.parameters(), 0.05)
                    optimizer.step()
                    scheduler.step()
                    optimizer.zero_grad(set_to_none=to_none)
        return [norms, everything(model, optimizer, scheduler)]

    assert_unchanged(program, steps=6)


def test_dropout_draws_the_same_numbers() -> None:
    def program() -> Any:
        model = network(dropout=0.5)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
        for _ in range(20):
            optimizer.zero_grad()
            (
                model(torch.rand(8, 6)) * float(numpy.random.rand()) + random.random()
            ).square().mean().backward()
            optimizer.step()
        return everything(model, optimizer)

    assert_unchanged(program, steps=20)


@pytest.mark.parametrize("growth", [2000, 2], ids=["steady", "overflowing"])
def test_half_precision_with_a_scaler(growth: int) -> None:
    applied: list[int] = []

    def program() -> Any:
        model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        optimizer.register_step_post_hook(lambda *_: applied.append(1))
        scaler = torch.amp.GradScaler("cpu", init_scale=2.0**12, growth_interval=growth, growth_factor=8.0)
        scales = []
        for x, y in data(96, 4):
            optimizer.zero_grad()
            with torch.autocast("cpu", dtype=torch.float16):
                loss = nn.functional.mse_loss(model(x), y)
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            scales.append(scaler.get_scale())
        return [scales, everything(model, optimizer, scaler)]

    outcome(program)
    steps = len(applied)
    assert (steps < 24) == (growth == 2)  # some steps are skipped, or none
    assert_unchanged(program, steps=steps)


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_closures(search: str | None) -> None:
    def program() -> Any:
        model = network()
        optimizer = torch.optim.LBFGS(model.parameters(), lr=0.1, max_iter=5, line_search_fn=search)
        x, y = torch.randn(16, 6), torch.randn(16, 3)
        losses = []

        def closure() -> Tensor:
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            return loss

        for _ in range(4):
            losses.append(optimizer.step(closure))
        return [losses, everything(model, optimizer)]

    assert_unchanged(program, steps=4)


@pytest.mark.parametrize("reentrant", [True, False])
def test_activation_checkpointing(reentrant: bool) -> None:
    def program() -> Any:
        first, second = nn.Sequential(nn.Linear(6, 16), nn.Dropout(0.3)), nn.Linear(16, 1)
        optimizer = torch.optim.Adam([*first.parameters(), *second.parameters()], lr=0.01)
        for _ in range(6):
            optimizer.zero_grad()
            x = torch.randn(8, 6, requires_grad=True)
            hidden = checkpoint(first, x, use_reentrant=reentrant)
            second(hidden).square().mean().backward()
            optimizer.step()
        return everything(nn.ModuleList([first, second]), optimizer)

    assert_unchanged(program, steps=6)


def test_sparse_gradients() -> None:
    def program() -> Any:
        table = nn.EmbeddingBag(20, 4, sparse=True)
        optimizer = torch.optim.SparseAdam(table.parameters(), lr=0.01)
        for _ in range(6):
            optimizer.zero_grad()
            table(torch.randint(0, 20, (5, 3))).square().sum().backward()
            optimizer.step()
        return everything(table, optimizer)

    assert_unchanged(program, steps=6)


def test_gradients_of_gradients() -> None:
    def program() -> Any:
        model = network()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for _ in range(4):
            optimizer.zero_grad()
            x = torch.randn(8, 6, requires_grad=True)
            (slope,) = torch.autograd.grad(model(x).sum(), x, create_graph=True)
            ((slope.norm(dim=1) - 1) ** 2).mean().backward()
            optimizer.step()
        return everything(model, optimizer)

    assert_unchanged(program, steps=4)


def test_workers_give_the_same_batches() -> None:
    def program() -> Any:
        x = torch.randn(24, 6)
        loader = DataLoader(TensorDataset(x), batch_size=4, shuffle=True, num_workers=2)
        model = network(dropout=0.2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
        for _ in range(2):
            for (batch,) in loader:
                optimizer.zero_grad()
                model(batch).square().mean().backward()
                optimizer.step()
        return everything(model, optimizer)

    assert_unchanged(program, steps=12)


@pytest.mark.slow
def test_compiled_models() -> None:
    def program() -> Any:
        torch._dynamo.reset()
        model = network(dropout=0.2)
        fast = torch.compile(model, backend="aot_eager")
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
        for x, y in data():
            optimizer.zero_grad()
            nn.functional.mse_loss(fast(x), y).backward()
            optimizer.step()
        return everything(model, optimizer)

    assert_unchanged(program, steps=6)


# -- several processes -----------------------------------------------------------------------------------


def in_both_ways(program: Program) -> Callable[[int], Any]:
    """In each rank: the program without and with the audit."""

    def work(rank: int) -> Any:
        torch.manual_seed(0)
        plain = raw(program())
        ledger = gradledger.watch()
        torch.manual_seed(0)
        audited = raw(program())
        answer = ledger.close()
        return plain == audited, answer.checked.steps, [f.code for f in answer.findings], answer.notes

    return work


@pytest.mark.distributed
def test_replicas_reduced_by_ddp() -> None:
    def program() -> Any:
        model = nn.parallel.DistributedDataParallel(network())
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
        generator = torch.Generator().manual_seed(torch.distributed.get_rank())
        for i in range(8):
            with nullcontext() if i % 2 else model.no_sync():
                x = torch.randn(4, 6, generator=generator)
                (model(x).square().mean() / 2).backward()
            if i % 2:
                optimizer.step()
                optimizer.zero_grad()
        return everything(model, optimizer)

    assert together(in_both_ways(program)) == [(True, 4, [], ())] * 2


@pytest.mark.distributed
def test_shards_reduced_by_fsdp2() -> None:
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    def program() -> Any:
        mesh = init_device_mesh("cpu", (2,))
        model = network()
        fully_shard(model[0], mesh=mesh)
        fully_shard(model, mesh=mesh)
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
        generator = torch.Generator().manual_seed(torch.distributed.get_rank())
        for i in range(8):
            model.set_requires_gradient_sync(bool(i % 2))
            x = torch.randn(4, 6, generator=generator)
            (model(x).square().mean() / 2).backward()
            if i % 2:
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad()
        return everything(model, optimizer)

    assert together(in_both_ways(program)) == [(True, 4, [], ())] * 2


# -- exceptions and warnings -----------------------------------------------------------------------------


class Refusal(Exception):
    def __init__(self, reason: str, *, number: int) -> None:
        super().__init__(reason, number)
        self.number = number


class _Refuses(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        raise Refusal("not today", number=7)


def raise_in_backward() -> None:
    _Refuses.apply(torch.ones(2, requires_grad=True)).sum().backward()


def raise_in_hook() -> None:
    weight = torch.ones(2, requires_grad=True)

    def hook(grad: Tensor) -> None:
        raise Refusal("no", number=3)

    weight.register_hook(hook)
    torch.autograd.backward([weight.sum()])


def raise_in_closure() -> None:
    weight = nn.Parameter(torch.ones(2))

    def closure() -> Tensor:
        raise Refusal("closed", number=4)

    torch.optim.LBFGS([weight]).step(closure)


def backward_twice() -> None:
    loss = torch.ones(2, requires_grad=True).square().sum()
    loss.backward()
    loss.backward()


def backward_of_a_vector() -> None:
    (torch.ones(2, requires_grad=True) * 2).backward()


def backward_without_a_graph() -> None:
    torch.ones(2).sum().backward()


def backward_with_unknown_argument() -> None:
    torch.ones(2, requires_grad=True).sum().backward(retain=True)


def optimizer_without_parameters() -> None:
    torch.optim.SGD([], lr=0.1)


def step_with_a_wrong_argument() -> None:
    torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=0.1).step(1, 2, 3)


def clip_nonfinite() -> None:
    weight = nn.Parameter(torch.ones(2))
    weight.grad = torch.full((2,), float("nan"))
    nn.utils.clip_grad_norm_([weight], 1.0, error_if_nonfinite=True)


def clip_no_iterable() -> None:
    nn.utils.clip_grad_value_(3, 1.0)


def scaler_steps_twice() -> None:
    weight = nn.Parameter(torch.ones(2))
    optimizer, scaler = torch.optim.SGD([weight], lr=0.1), torch.amp.GradScaler("cpu")
    scaler.scale(weight.sum()).backward()
    scaler.step(optimizer)
    scaler.step(optimizer)


def scaler_unscales_twice() -> None:
    weight = nn.Parameter(torch.ones(2))
    optimizer, scaler = torch.optim.SGD([weight], lr=0.1), torch.amp.GradScaler("cpu")
    scaler.scale(weight.sum()).backward()
    scaler.unscale_(optimizer)
    scaler.unscale_(optimizer)


def scaler_has_nothing_to_check() -> None:
    torch.amp.GradScaler("cpu").step(torch.optim.SGD([nn.Parameter(torch.ones(2))], lr=0.1))


def scheduler_without_optimizer() -> None:
    torch.optim.lr_scheduler.StepLR(None, 3)


def plateau_without_metric() -> None:
    optimizer = torch.optim.SGD([nn.Parameter(torch.ones(2))], lr=0.1)
    torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer).step()


RAISING = [
    raise_in_backward,
    raise_in_hook,
    raise_in_closure,
    backward_twice,
    backward_of_a_vector,
    backward_without_a_graph,
    backward_with_unknown_argument,
    optimizer_without_parameters,
    step_with_a_wrong_argument,
    clip_nonfinite,
    clip_no_iterable,
    scaler_steps_twice,
    scaler_unscales_twice,
    scaler_has_nothing_to_check,
    scheduler_without_optimizer,
    plateau_without_metric,
]


def raised(program: Program) -> BaseException:
    with pytest.raises(BaseException) as caught:
        program()
    return caught.value


@pytest.mark.parametrize("program", RAISING, ids=lambda program: program.__name__)
def test_exceptions_come_through_as_they_are(program: Program) -> None:
    plain = raised(program)
    with gradledger.watch() as ledger:
        audited = raised(program)
    assert type(audited) is type(plain)
    assert audited.args == plain.args
    assert vars(audited) == vars(plain)
    assert (audited.__cause__, audited.__context__) == (plain.__cause__, plain.__context__)
    assert not ledger.close().notes


def test_the_very_exception_object_arrives() -> None:
    refusal = Refusal("mine", number=1)
    weight = torch.ones(2, requires_grad=True)

    def hook(grad: Tensor) -> None:
        raise refusal

    weight.register_hook(hook)
    with gradledger.watch(), pytest.raises(Refusal) as caught:
        weight.sum().backward()
    assert caught.value is refusal


def weights() -> list[nn.Parameter]:
    return [nn.Parameter(torch.ones(2))]


def warn_scheduler_first() -> None:
    scheduler = torch.optim.lr_scheduler.StepLR(torch.optim.SGD(weights(), lr=0.1), 3)
    scheduler.step()
    scheduler.step()


def warn_explicit_epoch() -> None:
    optimizer = torch.optim.SGD(weights(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 3)
    optimizer.step()
    scheduler.step(2)


class Overriding(torch.optim.lr_scheduler.LambdaLR):
    def step(self, epoch: Any = None) -> None:
        super().step(epoch)


def warn_in_a_scheduler_of_the_user() -> None:
    scheduler = Overriding(torch.optim.SGD(weights(), lr=0.1), lambda epoch: 0.9**epoch)
    scheduler.step()
    scheduler.get_lr()


def warn_sequential() -> None:
    optimizer = torch.optim.SGD(weights(), lr=0.1)
    parts = [
        torch.optim.lr_scheduler.ConstantLR(optimizer),
        torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9),
    ]
    scheduler = torch.optim.lr_scheduler.SequentialLR(optimizer, parts, milestones=[2])
    for _ in range(4):
        scheduler.step()


def warn_step_overridden() -> None:
    optimizer = torch.optim.SGD(weights(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 3)
    optimizer.step = lambda closure=None: None
    scheduler.step()


def warn_reference_cycle() -> None:
    torch.ones(2, requires_grad=True).square().sum().backward(create_graph=True)


def warn_empty_generator() -> None:
    parameters = nn.Linear(2, 2).parameters()
    torch.optim.SGD(parameters, lr=0.1)
    nn.utils.clip_grad_norm_(parameters, 1.0)


def warn_nothing_for_an_empty_list() -> None:
    nn.utils.clip_grad_norm_([], 1.0)


def warn_duplicate_parameters() -> None:
    (weight,) = weights()
    torch.optim.SGD([weight, weight], lr=0.1)


def warn_no_accelerator() -> None:
    torch.cuda.amp.GradScaler()
    torch.amp.GradScaler("cuda")


def warn_from_user_code_in_backward() -> None:
    weight = torch.ones(2, requires_grad=True)
    weight.register_hook(lambda grad: warnings.warn("seen", RuntimeWarning, stacklevel=1))
    weight.sum().backward()


def warn_of_the_callers_line() -> None:
    def closure() -> Tensor:
        warnings.warn("closed", UserWarning, stacklevel=1)
        return torch.zeros(())

    torch.optim.SGD(weights(), lr=0.1).step(closure)


def warn_gradient_of_inner_node() -> None:
    inner = torch.ones(2, requires_grad=True) * 2
    inner.sum().backward()
    inner.grad  # not a leaf: torch says so


WARNING = [
    warn_scheduler_first,
    warn_explicit_epoch,
    warn_in_a_scheduler_of_the_user,
    warn_sequential,
    warn_step_overridden,
    warn_reference_cycle,
    warn_empty_generator,
    warn_nothing_for_an_empty_list,
    warn_duplicate_parameters,
    warn_no_accelerator,
    warn_from_user_code_in_backward,
    warn_of_the_callers_line,
    warn_gradient_of_inner_node,
]


def warned(program: Program) -> list[tuple[str, type, str, int]]:
    always = torch.is_warn_always_enabled()
    torch.set_warn_always(True)  # not only the first time in this process
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            program()
    finally:
        torch.set_warn_always(always)
    return [(str(w.message), w.category, w.filename, w.lineno) for w in caught]


@pytest.mark.parametrize("program", WARNING, ids=lambda program: program.__name__)
def test_warnings_are_the_same_to_the_line(program: Program) -> None:
    plain = warned(program)
    with gradledger.watch():
        assert warned(program) == plain
    assert bool(plain) == (program is not warn_nothing_for_an_empty_list)


def test_a_warning_shown_once_is_shown_once() -> None:
    def twice() -> None:
        for _ in range(2):
            torch.optim.lr_scheduler.StepLR(torch.optim.SGD(weights(), lr=0.1), 3).step()

    for audited in (False, True):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            globals().pop("__warningregistry__", None)
            with gradledger.watch() if audited else nullcontext():
                twice()
        assert len(caught) == 1
