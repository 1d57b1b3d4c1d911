"""While watching, torch looks as ever; afterwards it is as ever, and nothing of the program was kept."""

from __future__ import annotations

import copy
import gc
import inspect
import io
import pickle
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import torch.distributed
from torch import Tensor, nn
from torch.nn.utils import clip_grad
from torch.optim import lr_scheduler
from torch.optim import optimizer as optim
from torch.utils.data import DataLoader, TensorDataset, dataloader

import gradledger


def family(kind: type) -> Iterator[type]:
    yield kind
    for child in kind.__subclasses__():
        yield from family(child)


def places() -> list[Any]:
    """Everything of torch that a probe might touch."""
    return [
        torch,
        Tensor,
        torch._tensor,
        torch.autograd,
        torch.autograd.graph,
        nn.Module,
        nn.Parameter,
        nn.utils,
        clip_grad,
        *family(optim.Optimizer),
        *family(lr_scheduler.LRScheduler),
        *family(torch.amp.GradScaler),
        torch.amp.grad_scaler,
        dataloader.DataLoader,
        *family(dataloader._BaseDataLoaderIter),
        nn.parallel.DistributedDataParallel,
        torch.distributed,
        torch.distributed.distributed_c10d,
    ]


def attributes() -> dict[tuple[str, str], Any]:
    return {
        (f"{getattr(place, '__module__', '')}.{place.__name__}", name): value
        for place in places()
        for name, value in list(vars(place).items())
        if name not in ("__doc__", "__annotations__", "__weakref__", "__slotnames__")
    }


def different(before: dict[Any, Any], after: dict[Any, Any]) -> set[Any]:
    names = before.keys() | after.keys()
    return {name for name in names if before.get(name, names) is not after.get(name, names)}


def hooks() -> list[int]:
    return [
        *optim._global_optimizer_pre_hooks,
        -1,
        *optim._global_optimizer_post_hooks,
        *nn.modules.module._global_forward_hooks,
        *nn.modules.module._global_forward_pre_hooks,
        *nn.modules.module._global_backward_hooks,
    ]


@pytest.fixture(autouse=True, scope="module")
def _torch_has_settled() -> None:
    """The first optimizer of a class changes that class, and imports half of torch."""
    for kind in (torch.optim.SGD, torch.optim.Adam):
        kind(nn.Linear(1, 1).parameters()).step()


@pytest.fixture(autouse=True)
def _everything_comes_back() -> Iterator[None]:
    """In every test of this file."""
    gc.collect()  # classes that other tests have left behind
    known, hooked = attributes(), hooks()
    yield
    gc.collect()
    assert different(known, attributes()) == set()
    assert hooks() == hooked


def train(model: nn.Module, optimizer: torch.optim.Optimizer, steps: int = 2) -> None:
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.randn(4, 3)).square().mean().backward()
        optimizer.step()


def pair() -> tuple[nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    return model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


# -- torch is given back ---------------------------------------------------------------------------------


def test_the_comparison_would_notice_a_wrapper_left_behind() -> None:
    known, hooked = attributes(), hooks()
    with gradledger.watch():
        touched = {name for _, name in different(known, attributes())}
        assert {"backward", "zero_grad", "clip_grad_norm_", "step", "scale", "unscale_", "update"} <= touched
        assert len(hooks()) == len(hooked) + 2
    assert not different(known, attributes())


def test_after_an_exception() -> None:
    known = attributes()
    with pytest.raises(KeyError, match="mine"), gradledger.watch():
        assert different(known, attributes())
        raise KeyError("mine")
    assert not different(known, attributes())


def test_after_an_exception_inside_backward() -> None:
    model, optimizer = pair()
    known = attributes()

    def hook(grad: Tensor) -> None:
        raise ZeroDivisionError

    model.weight.register_hook(hook)
    with pytest.raises(ZeroDivisionError), gradledger.watch():
        train(model, optimizer)
    assert not different(known, attributes())


def test_after_a_finding_was_raised() -> None:
    model, optimizer = pair()
    known = attributes()
    with pytest.raises(gradledger.AuditError, match="GL101"), gradledger.watch(fail_fast=True):
        for _ in range(3):
            model(torch.ones(1, 3)).sum().backward()
            optimizer.step()
    assert not different(known, attributes())


def test_one_after_the_other() -> None:
    model, optimizer = pair()
    for _ in range(3):
        with gradledger.watch(model, optimizer) as ledger:
            train(model, optimizer)
        assert (ledger.close().checked.steps, ledger.findings) == (2, ())


def test_one_inside_the_other() -> None:
    model, optimizer = pair()
    with gradledger.watch(model, optimizer) as outer:
        train(model, optimizer, 1)
        with gradledger.watch(model, optimizer) as inner:
            train(model, optimizer, 2)
        train(model, optimizer, 1)
    assert (outer.close().checked.steps, inner.close().checked.steps) == (4, 2)
    assert outer.findings == inner.findings == ()


def test_closed_in_the_order_of_opening() -> None:
    model, optimizer = pair()
    known = attributes()
    first, second = gradledger.watch(), gradledger.watch()
    train(model, optimizer)
    assert first.close().checked.steps == 2
    train(model, optimizer)
    assert second.close().checked.steps == 4
    assert not different(known, attributes())


def test_closing_again_changes_nothing() -> None:
    model, optimizer = pair()
    ledger = gradledger.watch()
    train(model, optimizer)
    answer = ledger.close()
    train(model, optimizer)
    assert ledger.close() is answer
    with gradledger.watch() as other:
        assert ledger.close() is answer
        train(model, optimizer)
    assert other.close().checked.steps == 2


def test_what_the_program_replaced_itself_is_left_to_it() -> None:
    original = torch.nn.utils.clip_grad_value_

    def mine(parameters: Any, clip_value: float) -> None:
        return None

    try:
        with gradledger.watch():
            torch.nn.utils.clip_grad_value_ = mine
        assert torch.nn.utils.clip_grad_value_ is mine
    finally:
        torch.nn.utils.clip_grad_value_ = original


def test_names_taken_during_the_watch_still_work_after_it() -> None:
    model, optimizer = pair()
    with gradledger.watch():
        clear, backward, clip = optimizer.zero_grad, Tensor.backward, nn.utils.clip_grad_norm_
        scheduler = lr_scheduler.StepLR(optimizer, 2)
        advance = scheduler.step
    backward(model(torch.ones(1, 3)).sum())
    assert float(clip(model.parameters(), 1.0)) > 0
    optimizer.step()
    advance()
    clear()
    assert model.weight.grad is None
    assert scheduler.last_epoch == 1


# -- schedulers ------------------------------------------------------------------------------------------

SCHEDULES: dict[str, Callable[[Any], Any]] = {
    "StepLR": lambda o: lr_scheduler.StepLR(o, 1, 0.5),
    "LambdaLR": lambda o: lr_scheduler.LambdaLR(o, lambda n: 0.5**n),
    "OneCycleLR": lambda o: lr_scheduler.OneCycleLR(o, 0.2, total_steps=20),
    "CyclicLR": lambda o: lr_scheduler.CyclicLR(o, 0.01, 0.1, step_size_up=3),
    "CosineAnnealingWarmRestarts": lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 3),
    "ChainedScheduler": lambda o: lr_scheduler.ChainedScheduler(
        [lr_scheduler.ConstantLR(o, 0.5, 2), lr_scheduler.ExponentialLR(o, 0.9)]
    ),
    "SequentialLR": lambda o: lr_scheduler.SequentialLR(
        o, [lr_scheduler.LinearLR(o, 0.1, total_iters=2), lr_scheduler.ExponentialLR(o, 0.9)], milestones=[2]
    ),
}


@pytest.mark.parametrize("build", SCHEDULES.values(), ids=SCHEDULES)
@pytest.mark.parametrize("built", ["before", "during", "after"])
def test_schedules_take_their_course_whenever_they_were_built(
    build: Callable[[Any], Any], built: str
) -> None:
    def rates(*, audited: bool) -> list[float]:
        model, optimizer = pair()
        scheduler = build(optimizer) if built == "before" else None
        seen: list[float] = []

        def advance(times: int) -> None:
            for _ in range(times):
                train(model, optimizer, 1)
                scheduler.step()
                seen.append(scheduler.get_last_lr()[0])

        ledger = gradledger.watch() if audited else None
        scheduler = scheduler or (build(optimizer) if built == "during" else None)
        if scheduler is not None:
            advance(3)
        if ledger is not None:
            assert not ledger.close().notes
            assert ledger.findings == ()
        scheduler = scheduler or build(optimizer)
        advance(3)
        again = build(optimizer)
        again.load_state_dict(scheduler.state_dict())
        assert again.state_dict().keys() == scheduler.state_dict().keys()
        return seen

    assert rates(audited=True) == rates(audited=False)


def test_scheduler_classes_of_the_user_get_their_methods_back() -> None:
    class Before(lr_scheduler.LRScheduler):
        def get_lr(self) -> list[float]:
            return [0.1 / (self.last_epoch + 1) for _ in self.base_lrs]

        def step(self, epoch: Any = None) -> None:
            super().step(epoch)

    own = vars(Before)["step"]
    _, optimizer = pair()
    with gradledger.watch():

        class During(Before):
            def step(self, epoch: Any = None) -> None:
                super().step(epoch)

        own_during = vars(During)["step"]
        During(optimizer).step()
        assert vars(During)["step"] is not own_during
    assert vars(Before)["step"] is own
    assert vars(During)["step"] is own_during


# -- torch looks as ever ---------------------------------------------------------------------------------

LOOKS = {
    "Tensor.backward": lambda: Tensor.backward,
    "autograd.backward": lambda: torch.autograd.backward,
    "Optimizer.__init__": lambda: optim.Optimizer.__init__,
    "Optimizer.zero_grad": lambda: optim.Optimizer.zero_grad,
    "Optimizer.step": lambda: torch.optim.SGD.step,
    "Module.zero_grad": lambda: nn.Module.zero_grad,
    "clip_grad_norm_": lambda: nn.utils.clip_grad_norm_,
    "clip_grad_value_": lambda: nn.utils.clip_grad_value_,
    "GradScaler.__init__": lambda: torch.amp.GradScaler.__init__,
    "GradScaler.scale": lambda: torch.amp.GradScaler.scale,
    "GradScaler.unscale_": lambda: torch.amp.GradScaler.unscale_,
    "GradScaler.step": lambda: torch.amp.GradScaler.step,
    "GradScaler.update": lambda: torch.amp.GradScaler.update,
    "LRScheduler.step": lambda: lr_scheduler.LRScheduler.step,
    "OneCycleLR.step": lambda: lr_scheduler.OneCycleLR.step,
    "DataLoader iterator": lambda: dataloader._BaseDataLoaderIter.__next__,
    "DDP.forward": lambda: nn.parallel.DistributedDataParallel.forward,
    "all_reduce": lambda: torch.distributed.all_reduce,
}


@pytest.mark.parametrize("get", LOOKS.values(), ids=LOOKS)
def test_signatures_names_and_documentation(get: Callable[[], Any]) -> None:
    def looks() -> list[Any]:
        thing = get()
        names = [getattr(thing, name) for name in ("__name__", "__qualname__", "__module__", "__doc__")]
        return [*names, inspect.signature(thing), inspect.getsource(thing), inspect.isfunction(thing)]

    plain = looks()
    with gradledger.watch():
        assert looks() == plain


def test_methods_are_bound_to_the_functions_of_their_classes() -> None:
    model, optimizer = pair()
    with gradledger.watch():
        scheduler = lr_scheduler.StepLR(optimizer, 2)
        scaler = torch.amp.GradScaler("cpu")
        assert optimizer.zero_grad.__func__ is optim.Optimizer.zero_grad
        assert model.zero_grad.__func__ is nn.Module.zero_grad
        assert scheduler.step.__func__ is lr_scheduler.LRScheduler.step
        assert scaler.update.__func__ is torch.amp.GradScaler.update
        assert optimizer.zero_grad.__self__ is optimizer
        assert inspect.ismethod(optimizer.zero_grad)


def test_classes_are_the_same_classes() -> None:
    known = [type(t) for t in (nn.Linear(1, 1), pair()[1], torch.ones(1), torch.amp.GradScaler("cpu"))]
    with gradledger.watch():
        model, optimizer = pair()
        assert isinstance(optimizer, torch.optim.Optimizer)
        assert isinstance(lr_scheduler.StepLR(optimizer, 2), lr_scheduler.LRScheduler)
        assert [type(t) for t in (model, optimizer, torch.ones(1), torch.amp.GradScaler("cpu"))] == known
        assert nn.utils.clip_grad_norm_ is clip_grad.clip_grad_norm_


def copied(thing: Any) -> Any:
    return copy.deepcopy(thing)


def pickled(thing: Any) -> Any:
    return pickle.loads(pickle.dumps(thing))


def saved(thing: Any) -> Any:
    file = io.BytesIO()
    torch.save(thing, file)
    file.seek(0)
    return torch.load(file, weights_only=False)


@pytest.mark.parametrize("again", [copied, pickled, saved])
def test_models_optimizers_and_scalers_are_copied(again: Callable[[Any], Any]) -> None:
    with gradledger.watch() as ledger:
        model, optimizer = pair()
        scaler = torch.amp.GradScaler("cpu")
        train(model, optimizer)
        other, twin, second = again((model, optimizer, scaler))
        assert torch.equal(other.weight, model.weight)
        assert twin.param_groups[0]["params"][0] is other.weight
        train(other, twin)
        assert not torch.equal(other.weight, model.weight)
        assert second.get_scale() == scaler.get_scale()
    assert not ledger.close().notes
    assert ledger.findings == ()
    assert ledger.close().checked.steps == 4
    train(*again((model, optimizer)))


def test_functions_of_torch_are_pickled_by_name() -> None:
    functions = (
        nn.utils.clip_grad_norm_,
        torch.autograd.backward,
        optim.Optimizer.zero_grad,
        Tensor.backward,
    )
    before = pickle.dumps(functions)
    with gradledger.watch():
        wrapped = (
            nn.utils.clip_grad_norm_,
            torch.autograd.backward,
            optim.Optimizer.zero_grad,
            Tensor.backward,
        )
        during = pickle.dumps(wrapped)
    assert during == before
    assert pickle.loads(during) == functions


def test_a_state_dict_saved_during_the_watch_fits_afterwards() -> None:
    model, optimizer = pair()
    with gradledger.watch():
        train(model, optimizer)
        state = saved([model.state_dict(), optimizer.state_dict()])
    other, twin = pair()
    other.load_state_dict(state[0])
    twin.load_state_dict(state[1])
    assert torch.equal(other.weight, model.weight)
    assert set(vars(optimizer)) == set(vars(twin))


# -- nothing is kept -------------------------------------------------------------------------------------


def test_deleted_models_and_all_that_belonged_to_them_are_freed() -> None:
    with gradledger.watch() as ledger:
        survivors, keeper = pair()
        for _ in range(3):
            model, optimizer = pair()
            scheduler, scaler = lr_scheduler.StepLR(optimizer, 2), torch.amp.GradScaler("cpu")
            loader = DataLoader(TensorDataset(torch.randn(8, 3)), batch_size=4)
            for (x,) in loader:
                optimizer.zero_grad()
                loss = model(x).square().mean()
                scaler.scale(loss).backward()
                scaler.unscale_(optimizer)
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                scaler.step(optimizer)
                scaler.update()
                scheduler.step()
            train(survivors, keeper, 1)
            things = (model, optimizer, scheduler, scaler, loader.dataset, loss)
            dead = [weakref.ref(t) for t in (*things, *model.parameters())]
            gradient = weakref.ref(model.weight.grad)
            del model, optimizer, scheduler, scaler, loader, loss, things, x
            gc.collect()
            assert [ref() for ref in dead] == [None] * len(dead)
            train(survivors, keeper, 1)
            assert gradient() is None  # small ones at the next look, large ones at once
    assert not ledger.close().notes
    assert ledger.findings == ()


def test_a_model_given_to_watch_is_not_kept_by_the_ledger() -> None:
    model, optimizer = pair()
    ledger = gradledger.watch(model, optimizer)
    train(model, optimizer)
    dead = [weakref.ref(model), weakref.ref(optimizer), weakref.ref(model.weight)]
    del model, optimizer
    gc.collect()
    assert [ref() for ref in dead] == [None] * 3
    assert ledger.close().checked.steps == 2


@pytest.mark.parametrize("bias", [True, False])
def test_large_gradients_are_freed_the_moment_they_are_dropped(bias: bool) -> None:
    gc.disable()  # no help from the collector
    try:
        with gradledger.watch():
            model = nn.Linear(1024, 1024, bias=bias)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
            for turn in range(12):
                model(torch.randn(2, 1024)).square().mean().backward()
                optimizer.step()
                gradient = weakref.ref(model.weight.grad)
                if turn % 2:
                    optimizer.zero_grad()
                else:
                    model.weight.grad = None
                    assert gradient() is None
                    model.bias = None if not bias else model.bias
                    model.zero_grad()
                assert gradient() is None
    finally:
        gc.enable()


def test_many_small_gradients_are_not_kept_together() -> None:
    """A thousand small ones are as large as one large one."""
    gc.disable()
    try:
        with gradledger.watch():
            layers = nn.ModuleList(nn.Linear(64, 64) for _ in range(200))
            optimizer = torch.optim.SGD(layers.parameters(), lr=0.01)
            for _ in range(4):
                sum(layer(torch.ones(1, 64)).sum() for layer in layers).backward()
                optimizer.step()
                gradients = [weakref.ref(p.grad) for p in layers.parameters()]
                for p in layers.parameters():
                    p.grad = None
                assert sum(ref() is not None for ref in gradients) <= 2
    finally:
        gc.enable()


def test_activations_are_freed_with_the_graph() -> None:
    gc.disable()
    try:
        with gradledger.watch():
            model, optimizer = pair()
            for _ in range(20):
                optimizer.zero_grad()
                hidden = model(torch.ones(2, 3))
                kept = weakref.ref(hidden)
                hidden.square().mean().backward()
                del hidden
                assert kept() is None
                optimizer.step()
    finally:
        gc.enable()


def reachable(thing: Any) -> int:
    """How many objects the audit holds: its own and plain containers, not the program's."""
    seen: set[int] = set()
    waiting: deque[Any] = deque([thing])
    plain = (dict, list, tuple, set, frozenset, deque)
    while waiting:
        one = waiting.popleft()
        if id(one) in seen or isinstance(one, type):
            continue
        if not (isinstance(one, plain) or type(one).__module__.startswith("gradledger")):
            continue
        seen.add(id(one))
        waiting.extend(gc.get_referents(one))
    return len(seen)


def plain_loop() -> Callable[[], None]:
    model, optimizer = pair()
    x = torch.randn(4, 3)

    def step() -> None:
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()

    return step


def never_cleared() -> Callable[[], None]:
    model, optimizer = pair()
    optimizer.param_groups[0]["lr"] = 1e-9
    x = torch.randn(4, 3)

    def step() -> None:
        model(x).square().mean().backward()
        optimizer.step()

    return step


def window_with_everything() -> Callable[[], None]:
    model, optimizer = pair()
    scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
    scheduler = lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 50)
    dataset = TensorDataset(torch.randn(16, 3))
    batches: Iterator[Any] = iter(())

    def step() -> None:
        nonlocal batches
        for _ in range(2):
            batch = next(batches, None)
            if batch is None:
                batches = iter(DataLoader(dataset, batch_size=4))
                batch = next(batches)
            scaler.scale(model(batch[0]).square().mean() / 2).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        scheduler.step()
        optimizer.zero_grad()

    return step


def nothing_to_learn() -> Callable[[], None]:
    """Gradients that are zero, in windows that are cleared by hand."""
    model, optimizer = pair()

    def step() -> None:
        for _ in range(2):
            (model(torch.ones(1, 3)) * 0.0).sum().backward()
        optimizer.step()
        for p in model.parameters():
            p.grad.data.zero_()

    return step


def gradients_of_inputs() -> Callable[[], None]:
    model, optimizer = pair()

    def step() -> None:
        attack = torch.randn(4, 3, requires_grad=True)
        model(attack).square().mean().backward()
        optimizer.zero_grad()
        model(attack.detach() + 0.1 * attack.grad.sign()).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def models_made_anew() -> Callable[[], None]:
    def step() -> None:
        train(*pair(), 1)

    return step


@pytest.mark.parametrize("loop", [gradients_of_inputs, models_made_anew])
def test_short_lived_tensors_leave_nothing_behind(loop: Callable[[], Any]) -> None:
    with gradledger.watch() as ledger:
        step = loop()
        observer, sizes = ledger._session.probes.observer, []
        for steps in (200, 600):
            for _ in range(steps):
                step()
            held = [observer.cohorts, observer.by_param, *observer.by_optimizer.values()]
            sizes.append(sum(map(len, held)))
    early, late = sizes
    assert 0 < late <= early + 8


@pytest.mark.slow
@pytest.mark.parametrize("loop", [plain_loop, never_cleared, nothing_to_learn, window_with_everything])
def test_ten_thousand_steps_take_no_more_memory_than_two_thousand(loop: Callable[[], Any]) -> None:
    with gradledger.watch() as ledger:
        step = loop()
        session = ledger._session
        sizes = []
        for steps in (2_000, 8_000):
            for _ in range(steps):
                step()
            kinds, events = len(session.journal._kinds), len(session.probes.observer.events)
            gc.collect()
            sizes.append((kinds, events, reachable(session)))
    early, late = sizes
    assert session.journal.books.steps == 10_000
    assert early[2] > 100  # the audit's own objects were found
    assert late[0] <= early[0] + 4
    assert late[1] <= early[1] + 4
    assert late[2] <= early[2] + 32
