"""A loop in steady state is audited in outline; what it tells is what a full audit tells."""

from __future__ import annotations

import gc
import random
import weakref
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import gradledger
from gradledger.report.replay.retelling import retold

ENOUGH = 100
"""Turns after which a plain loop is certainly in steady state."""


class Training:
    """A loop whose turns can be made to differ; every call has a line of its own."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3)
        self.x = torch.randn(4, 3)

    def loss(self) -> Tensor:
        return self.model(self.x).square().mean()

    def turn(self, what: str = "") -> None:
        optimizer, model = self.optimizer, self.model
        if what == "cleared by hand in time":
            for p in model.parameters():
                p.grad = None
        elif what != "never cleared":
            optimizer.zero_grad()
        loss = self.loss()
        if what == "nonfinite":
            loss = loss * float("nan")
        if what != "no backward":
            loss.backward()  # the backward
        if what == "cleared":
            optimizer.zero_grad()  # cleared too soon
        if what == "cleared by hand":
            for p in model.parameters():
                p.grad = None  # cleared by hand
        if what == "zeroed in place":
            for p in model.parameters():
                p.grad.zero_()  # zeroed in place
        if what == "another backward":
            self.loss().backward()
        if what == "clipped":
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if what == "changed":
            for p in model.parameters():
                p.grad.mul_(0.5)
        if what != "no step":
            optimizer.step()  # the step
        if what == "repeated":
            optimizer.step()  # the step again
        if what == "clipped late":
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # clipped late
        if what == "cleared at the end":
            model.zero_grad()

    @property
    def weight(self) -> nn.Parameter:
        return self.model[0].weight


def line(mark: str) -> int:
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    return next(number for number, text in enumerate(lines, 1) if text.endswith(f"# {mark}"))


def flies(ledger: Any) -> bool:
    return bool(ledger._session.probes.observer.cruise.on)


def certain(ledger: Any) -> list[tuple[str, int]]:
    return [(f.code, f.site.line) for f in ledger.findings if f.certainty.value == "certain"]


def steady() -> tuple[Training, Any]:
    training = Training()
    ledger = gradledger.watch(training.model, training.optimizer)
    for _ in range(ENOUGH):
        training.turn()
    assert flies(ledger)
    return training, ledger


@pytest.mark.parametrize("turns", [1, 31, 32, 33, 34, 35, 63, 64, 65, 96, 97, 98, 99, 160, 333])
def test_every_turn_is_counted(turns: int) -> None:
    training = Training()
    with gradledger.watch(training.model, training.optimizer) as ledger:
        for _ in range(turns):
            training.turn()
    answer = ledger.close()
    assert (answer.checked.backwards, answer.checked.steps, answer.checked.parameters) == (turns, turns, 4)
    assert ledger.findings == ()
    books = ledger._session.journal.books
    assert books.unbalanced() == []
    assert {balance.posted for balance in books.balances.values()} == {turns}


def test_balances_are_right_at_any_moment() -> None:
    training, ledger = steady()
    for _ in range(3):
        for _ in range(70):
            training.turn()
        assert (ledger.balance(training.weight).fresh, ledger.balance(training.weight).stale) == (0, 1)
        training.turn("no step")
        (entry,) = ledger.balance(training.weight).entries
        assert (entry.site.line, entry.micro_batches, entry.used) == (line("the backward"), 1, False)
        training.optimizer.zero_grad()
        assert ledger.balance(training.weight).state == "none"
    assert ledger.close().notes == ()


DEVIATIONS = {
    "never cleared": [("GL101", "the backward")],
    "repeated": [("GL105", "the step again")],
    "cleared": [("GL102", "cleared too soon")],
    "cleared by hand": [("GL102", "")],
    "zeroed in place": [("GL102", "")],
    "nonfinite": [("GL306", "the step")],
    "clipped late": [("GL304", "clipped late")],
    "cleared by hand in time": [],
    "clipped": [],
    "changed": [],
    "another backward": [],
    "cleared at the end": [],
    "no step": [],
}


@pytest.mark.parametrize(("what", "expected"), DEVIATIONS.items(), ids=DEVIATIONS)
def test_a_change_of_the_loop_is_noticed(what: str, expected: list[tuple[str, str]]) -> None:
    training, ledger = steady()
    for _ in range(ENOUGH + 20):
        training.turn(what)
    answer = ledger.close()
    found = certain(ledger)
    assert [code for code, _ in found] == [code for code, _ in expected]
    for (_, at), (_, mark) in zip(found, expected, strict=True):
        assert not mark or at == line(mark)
    assert answer.notes == ()


@pytest.mark.parametrize("what", ["never cleared", "repeated", "nonfinite"])
@pytest.mark.parametrize("after", [ENOUGH, ENOUGH + 1, ENOUGH + 29])
def test_a_single_slip_is_noticed(what: str, after: int) -> None:
    training = Training()
    with gradledger.watch(training.model, training.optimizer) as ledger:
        for _ in range(after):
            training.turn()
        training.turn(what)
        if what == "nonfinite":
            with torch.no_grad():
                for p in training.model.parameters():
                    p.fill_(0.1)
        for _ in range(200):
            training.turn()
    ((code, mark),) = DEVIATIONS[what]
    (finding,) = (f for f in ledger.findings if f.certainty.value == "certain")
    assert (finding.code, finding.site.line, finding.count) == (code, line(mark), 1)
    books = ledger._session.journal.books
    assert books.steps == after + 201 + (what == "repeated")
    assert books.unbalanced() == []


def test_an_exception_in_mid_flight() -> None:
    training, ledger = steady()

    def hook(grad: Tensor) -> None:
        raise OverflowError

    handle = training.weight.register_hook(hook)
    with pytest.raises(OverflowError):
        training.turn()
    handle.remove()
    for _ in range(100):
        training.turn()
    answer = ledger.close()
    assert answer.checked.steps == ENOUGH + 100
    assert (certain(ledger), answer.notes) == ([], ())


def test_a_flight_that_ends_inside_a_pass() -> None:
    training, ledger = steady()
    handle = training.weight.register_hook(lambda grad: ledger.balance(training.weight) and None)
    training.turn("no step")
    handle.remove()
    (entry,) = ledger.balance(training.weight).entries
    assert (entry.site.line, entry.micro_batches, entry.used) == (line("the backward"), 1, False)
    training.optimizer.step()
    for _ in range(50):
        training.turn()
    answer = ledger.close()
    assert (answer.checked.backwards, answer.checked.steps) == (ENOUGH + 51, ENOUGH + 51)
    assert (ledger.findings, answer.notes) == ((), ())


def test_another_loop_after_the_first() -> None:
    first, ledger = steady()
    second = Training()
    for _ in range(100):
        second.turn()
        first.turn()
    for _ in range(70):
        second.turn("never cleared")
    answer = ledger.close()
    assert answer.checked.steps == ENOUGH + 270
    assert certain(ledger) == [("GL101", line("the backward"))]


def test_a_model_deleted_in_mid_flight() -> None:
    training, ledger = steady()
    model = weakref.ref(training.model)
    del training
    gc.collect()
    assert model() is None
    other = Training()
    for _ in range(50):
        other.turn()
    assert ledger.close().checked.steps == ENOUGH + 50
    assert ledger.close().notes == ()


def test_large_gradients_are_not_held_in_mid_flight() -> None:
    weight = nn.Parameter(torch.randn(1024, 512))
    optimizer = torch.optim.SGD([weight], lr=1e-3)
    gc.disable()
    try:
        with gradledger.watch():
            for _ in range(ENOUGH):
                optimizer.zero_grad()
                (weight * weight).mean().backward()
                optimizer.step()
            gradient = weakref.ref(weight.grad)
            weight.grad = None
            assert gradient() is None
    finally:
        gc.enable()


class Clipped(Training):
    """Clips in every turn."""

    def turn(self, what: str = "") -> None:
        optimizer, model = self.optimizer, self.model
        optimizer.zero_grad()
        self.loss().backward()  # before the clip
        if what == "clipped by another bound":
            nn.utils.clip_grad_norm_(model.parameters(), float("inf"))
        elif what == "clipped in part":
            nn.utils.clip_grad_norm_(model[0].parameters(), 0.1)
        elif what not in ("clip moved", "clip left out"):
            self.clip(0.1)
        if what == "clipped twice":
            self.clip(0.1)
        if what == "changed":
            for p in model.parameters():
                p.grad.mul_(0.5)
        if what == "cleared":
            optimizer.zero_grad()  # cleared after the clip
        optimizer.step()
        if what == "clip moved":
            nn.utils.clip_grad_norm_(model.parameters(), 0.1)  # the clip has moved

    def clip(self, bound: float) -> None:
        nn.utils.clip_grad_norm_(self.model.parameters(), bound)


class Scheduled(Training):
    """Advances a schedule in every turn."""

    def __init__(self) -> None:
        super().__init__()
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, 1_000_000)

    def turn(self, what: str = "") -> None:
        self.optimizer.zero_grad()
        self.loss().backward()
        if what == "scheduler first":
            self.scheduler.step()
        self.optimizer.step()
        if what not in ("scheduler first", "not scheduled"):
            self.scheduler.step()  # the schedule
        if what == "scheduled twice":
            self.scheduler.step()
        if what == "scheduled by number":
            self.scheduler.step(3)
        if what == "another scheduler":
            torch.optim.lr_scheduler.StepLR(self.optimizer, 1_000_000).step()


class Scaled(Scheduled):
    """Scales the loss, clips and schedules."""

    def __init__(self) -> None:
        super().__init__()
        self.scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=50)

    def turn(self, what: str = "") -> None:
        optimizer, model, scaler = self.optimizer, self.model, self.scaler
        scaled = scaler.scale(self.loss())
        loss = self.loss() if what == "bypassed at backward" else scaled
        optimizer.zero_grad()
        if what == "overflow":
            handle = self.weight.register_hook(lambda grad: grad * float("inf"))
        loss.backward()
        if what == "overflow":
            handle.remove()
        if what == "clipped too soon":
            nn.utils.clip_grad_norm_(model.parameters(), 0.1)  # clipped too soon
        if what == "clipped too soon by hand":
            for p in model.parameters():
                p.grad.clamp_(-1e-3, 1e-3)
        if what == "cleared":
            optimizer.zero_grad()  # the scaler's gradients are cleared
            self.loss().backward()
        if what != "unscaled by the step":
            scaler.unscale_(optimizer)
        if what != "clipped too soon":
            nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        if what == "bypassed":
            optimizer.step()  # past the scaler
        else:
            scaler.step(optimizer)  # the scaler's step
        scaler.update()
        self.scheduler.step()
        if what == "updated twice":
            scaler.update(512.0)


class Unclipped(Scaled):
    """Lets the scaler's step divide the scale out."""

    def turn(self, what: str = "") -> None:
        self.optimizer.zero_grad()
        if what == "overflow":
            handle = self.weight.register_hook(lambda grad: grad * float("inf"))
        self.scaler.scale(self.loss()).backward()
        if what == "overflow":
            handle.remove()
        if what == "clipped too soon":
            nn.utils.clip_grad_norm_(self.model.parameters(), 0.1)
        self.scaler.step(self.optimizer)
        self.scaler.update()


class Disabled(Unclipped):
    """Has a scaler that does nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.scaler = torch.amp.GradScaler("cpu", enabled=False)


SLIPS: dict[type[Training], list[str]] = {
    Training: [name for name in DEVIATIONS if name != "nonfinite"] + ["no backward"],
    Clipped: [
        "clipped by another bound",
        "clipped in part",
        "clip moved",
        "clip left out",
        "clipped twice",
        "changed",
        "cleared",
    ],
    Scheduled: [
        "scheduler first",
        "not scheduled",
        "scheduled twice",
        "scheduled by number",
        "another scheduler",
    ],
    Scaled: [
        "bypassed at backward",
        "overflow",
        "clipped too soon",
        "clipped too soon by hand",
        "cleared",
        "unscaled by the step",
        "bypassed",
        "updated twice",
    ],
    Unclipped: ["overflow", "clipped too soon"],
    Disabled: ["clipped too soon"],
}


@pytest.mark.parametrize("kind", SLIPS)
def test_loops_of_every_kind_reach_level_flight(kind: type[Training]) -> None:
    training = kind()
    with gradledger.watch(training.model, training.optimizer) as ledger:
        flew = 0
        for _ in range(500):
            training.turn()
            flew += flies(ledger)
    assert flew > 450
    assert (ledger.findings, ledger.close().checked.steps) == ((), 500)


BEGUN_IN_FLIGHT = {
    (Clipped, "clip moved"): [("GL304", "the clip has moved")],
    (Clipped, "clip left out"): [],
    (Clipped, "changed"): [],
    (Clipped, "cleared"): [("GL102", "cleared after the clip")],
    (Scheduled, "not scheduled"): [],
    (Scaled, "overflow"): [],
    (Scaled, "clipped too soon"): [("GL301", "clipped too soon")],
    (Scaled, "bypassed at backward"): [("GL305", "the scaler's step")],
    (Scaled, "bypassed"): [],
    (Unclipped, "overflow"): [],
}


@pytest.mark.parametrize(("loop", "expected"), BEGUN_IN_FLIGHT.items(), ids=str)
def test_a_mistake_that_begins_in_mid_flight(
    loop: tuple[type[Training], str], expected: list[tuple[str, str]]
) -> None:
    kind, what = loop
    training = kind()
    with gradledger.watch(training.model, training.optimizer) as ledger:
        for _ in range(ENOUGH):
            training.turn()
        assert flies(ledger)
        for _ in range(ENOUGH):
            training.turn(what)
    assert certain(ledger) == [(code, line(mark)) for code, mark in expected]


@pytest.mark.parametrize("kind", [Scaled, Unclipped])
def test_a_skipped_step_ends_the_flight(kind: type[Training]) -> None:
    training = kind()
    with gradledger.watch(training.model, training.optimizer) as ledger:
        for _ in range(ENOUGH):
            training.turn()
        assert flies(ledger)
        training.turn("overflow")
        assert not flies(ledger)
        for _ in range(ENOUGH):
            training.turn()
        assert flies(ledger)
    (book,) = (b for b in ledger._session.journal.books.optimizers.values() if b.steps)
    assert (book.steps, book.skipped, ledger.findings) == (2 * ENOUGH, 1, ())
    (scaler,) = ledger._session.journal.books.scalers.values()
    assert scaler.updates == 2 * ENOUGH + 1


def told(kind: type[Training], seed: int, folder: Path, *, full: bool) -> Any:
    """What is told of a long loop with rare slips, by the audit and by its recording."""
    slips = random.Random(seed)
    training = kind()
    save = str(folder / "recording")
    with gradledger.watch(training.model, training.optimizer, save=save) as ledger:
        ledger._session.probes.observer.cruise.allowed = not full
        flew = 0
        for _ in range(600):
            training.turn(slips.choice(SLIPS[kind]) if slips.random() < 0.01 else "")
            flew += flies(ledger)
    assert (flew == 0) is full
    answer = ledger.close()
    books = ledger._session.journal.books
    again = retold(save, str(folder))
    assert (again.answer.findings, again.answer.checked) == (answer.findings, answer.checked)
    assert list(again.books.balances.values()) == list(books.balances.values())
    findings = [(f.code, f.site.line, f.certainty.value, f.count, f.first_step) for f in answer.findings]
    around = [list(part.values()) for part in (books.clips, books.scalers, books.schedulers)]
    return findings, answer.checked, answer.notes, around, [p.tolist() for p in training.model.parameters()]


@pytest.mark.filterwarnings("ignore:The epoch parameter")
@pytest.mark.parametrize(
    ("kind", "seed"),
    [(kind, seed) for kind in SLIPS for seed in range(12 if kind is Training else 4)],
)
def test_the_outline_tells_what_the_full_audit_tells(kind: type[Training], seed: int, tmp_path: Path) -> None:
    assert told(kind, seed, tmp_path, full=False) == told(kind, seed, tmp_path, full=True)
