"""Threads that train side by side: books apart, right loops silent, wrong ones found, weights untouched."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

import gradledger
from gradledger.audit.answer import Answer

PASSES = 60
DATA = TensorDataset(torch.randn(24, 4), torch.randn(24, 1))
"""All threads read the same."""


@pytest.fixture(autouse=True)
def hasty() -> Iterator[None]:
    """Threads change places all the time."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def batches() -> Iterator[list[Tensor]]:
    for _ in range(PASSES // 6):
        yield from DataLoader(DATA, batch_size=4)


def plain(model: nn.Module, optimizer: torch.optim.Optimizer, *, clears: bool) -> None:
    for x, y in batches():
        nn.functional.mse_loss(model(x), y).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if clears:
            optimizer.zero_grad()


def windows(model: nn.Module, optimizer: torch.optim.Optimizer, *, clears: bool) -> None:
    for _ in range(PASSES // 6):
        for i, (x, y) in enumerate(DataLoader(DATA, batch_size=4)):
            (nn.functional.mse_loss(model(x), y) / 3).backward()
            if (i + 1) % 3 == 0:
                optimizer.step()
                if clears:
                    optimizer.zero_grad()


def nested(model: nn.Module, optimizer: torch.optim.Optimizer, *, clears: bool) -> None:
    x, y = DATA.tensors
    for _ in range(PASSES // 6):
        for i in range(6):
            (nn.functional.mse_loss(model(x), y) / 2).backward()
            if (i + 1) % 2 == 0:
                optimizer.step()
                if clears:
                    optimizer.zero_grad()


def scaled(model: nn.Module, optimizer: torch.optim.Optimizer, *, clears: bool) -> None:
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    for x, y in batches():
        if clears:
            optimizer.zero_grad()
        scaler.scale(nn.functional.mse_loss(model(x), y)).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()


Loop = Callable[..., None]
STEPS = {plain: PASSES, windows: PASSES // 3, nested: PASSES // 2, scaled: PASSES}


def train(loops: list[Loop], wrong: int | None) -> list[Tensor]:
    """The weights of all models after each was trained in a thread of its own."""
    torch.manual_seed(0)
    models = [nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)) for _ in loops]
    optimizers = [torch.optim.SGD(model.parameters(), lr=1e-3) for model in models]
    together = threading.Barrier(len(loops))
    troubles: list[BaseException] = []

    def work(at: int) -> None:
        try:
            together.wait()
            loops[at](models[at], optimizers[at], clears=at != wrong)
        except BaseException as trouble:
            troubles.append(trouble)

    threads = [threading.Thread(target=work, args=(at,)) for at in range(len(loops))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not troubles, troubles
    return [param.detach() for model in models for param in model.parameters()]


def audited(loops: list[Loop], wrong: int | None = None) -> tuple[list[Tensor], Answer]:
    ledger = gradledger.watch()
    try:
        return train(loops, wrong), ledger.close()
    finally:
        ledger.close()


MIXES = [[plain] * 4, [windows] * 4, [nested] * 4, [scaled] * 4, [plain, windows, scaled, nested]]


@pytest.mark.parametrize("loops", MIXES, ids=lambda loops: "-".join(loop.__name__ for loop in loops))
def test_right_loops_are_silent_counted_and_untouched(loops: list[Loop]) -> None:
    weights, answer = audited(loops)
    assert [str(finding) for finding in answer.findings] == []
    assert answer.notes == ()
    assert answer.checked.steps == sum(STEPS[loop] for loop in loops)
    assert answer.checked.backwards == PASSES * len(loops)
    assert all(map(torch.equal, weights, train(loops, None)))


@pytest.mark.parametrize("loops", MIXES, ids=lambda loops: "-".join(loop.__name__ for loop in loops))
def test_a_wrong_loop_in_one_thread_is_found_and_counted(loops: list[Loop]) -> None:
    weights, answer = audited(loops, wrong=2)
    found = [(f.code, f.site.function, f.count) for f in answer.findings]
    assert found == [("GL101", loops[2].__name__, STEPS[loops[2]] - 1)]
    assert answer.notes == ()
    assert all(map(torch.equal, weights, train(loops, 2)))


def test_a_model_that_goes_from_thread_to_thread_keeps_its_books() -> None:
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    other = nn.Linear(4, 1)
    with gradledger.watch() as ledger:
        for turn in range(4):
            work = [(plain, model, optimizer), (plain, other, torch.optim.SGD(other.parameters(), lr=1e-3))]
            threads = [
                threading.Thread(target=loop, args=things, kwargs={"clears": True}) for loop, *things in work
            ]
            for thread in threads if turn % 2 else threads[:1]:
                thread.start()
                thread.join()
            plain(model, optimizer, clears=True)
    assert [str(finding) for finding in ledger.findings] == []
    assert ledger.so_far().notes == ()
    assert ledger.so_far().checked.steps == 10 * PASSES


def test_a_thread_that_reads_ahead_reads_for_the_one_that_trains() -> None:
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    read: list[list[Tensor]] = []
    iterator = iter(DataLoader(DATA, batch_size=4))
    with gradledger.watch() as ledger:
        for _ in range(3):
            reader = threading.Thread(target=lambda: read.append(next(iterator)))
            reader.start()
            reader.join()
            x, y = read.pop()
            optimizer.zero_grad()
            nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
        (passes,) = ledger._session.books.passes.values()
    assert passes.count == 3


def test_findings_may_be_asked_for_while_threads_train() -> None:
    with gradledger.watch() as ledger:
        thread = threading.Thread(target=train, args=([plain, plain], None))
        thread.start()
        while thread.is_alive():
            assert ledger.findings == ()
        thread.join()
    assert ledger.so_far().checked.steps == 2 * PASSES
    assert ledger.so_far().notes == ()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_does_not_wait_for_a_thread_that_it_has_not() -> None:
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    with gradledger.watch() as ledger:
        held, enough = threading.Event(), threading.Event()

        def book() -> None:
            with ledger._session.probes.observer.lock:
                held.set()
                enough.wait()

        thread = threading.Thread(target=book)
        thread.start()
        held.wait()
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            optimizer.zero_grad()
            os._exit(0)
        enough.set()
        thread.join()
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
