"""What is only printed, handed on or told a function in passing trains as well as what is written out."""

from __future__ import annotations

import pytest

from tests.static.project import Project, certain, programs, said

_STEP = """\
import functools
import torch


def make(model, optimizer):
    def inner(x, y):
        loss = torch.nn.functional.mse_loss(model(x), y)
        {clear}
        loss.backward(){mark}
        optimizer.step()
        return loss.item()

    return inner


def update(model, optimizer, x, y):
    return make(model, optimizer)(x, y)


class Updater:
    def __init__(self, model, optimizer):
        self.advance = make(model, optimizer)

    def __call__(self, x, y):
        return self.advance(x, y)

    def run(self, loader):
        for x, y in loader:
            print(f"loss {{self.advance(x, y):.3f}}")


model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""

CALLS = {
    "a closure in a print": """\
do = make(model, optimizer)
for x, y in loader:
    print(do(x, y))
""",
    "a closure in an f-string": """\
do = make(model, optimizer)
for x, y in loader:
    print(f"{do(x, y)}")
""",
    "an f-string with a format": """\
do = make(model, optimizer)
for x, y in loader:
    print(f"loss {do(x, y):.3f}")
""",
    "a partial": """\
do = functools.partial(update, model, optimizer)
for x, y in loader:
    print(do(x, y))
""",
    "an object that is called": """\
do = Updater(model, optimizer)
for x, y in loader:
    print("loss", do(x, y))
""",
    "an object that is called where it is made": """\
for x, y in loader:
    print(Updater(model, optimizer)(x, y))
""",
    "a method's field": "Updater(model, optimizer).run(loader)\n",
}


def whole(calls: str, *, clears: bool) -> str:
    """The program, right or wrong."""
    return (
        _STEP.format(
            clear="optimizer.zero_grad()" if clears else "pass", mark="" if clears else "  # <- GL101"
        )
        + calls
    )


@pytest.mark.parametrize("calls", programs(CALLS))
def test_a_missing_clear_is_found(calls: str) -> None:
    text = whole(calls, clears=False)
    assert certain(text) == Project.of(text).marked() != []


@pytest.mark.parametrize("calls", programs(CALLS))
def test_the_right_program_is_left_in_peace(calls: str) -> None:
    assert said(whole(calls, clears=True)) == []


_FLAG = """\
import torch


class Trainer:
    every = 4

    def __init__(self):
        self.net = torch.nn.Linear(4, 1)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
        self.schedule = torch.optim.lr_scheduler.StepLR(self.optimizer, 3)

    def advance(self, loss, closes=True):
        (loss / self.every).backward()
        if closes:
            {advance}
            self.optimizer.zero_grad()
        {after}

    def __call__(self, loss, closes):
        self.advance(loss, closes)

    def fit(self, loader):
        for i, (x, y) in enumerate(loader):
            loss = torch.nn.functional.mse_loss(self.net(x), y)
            {call}


trainer = Trainer()
for epoch in range(10):
    trainer.fit(loader)
"""

FLAGS = {
    "by position": "self.advance(loss, (i + 1) % self.every == 0)",
    "by name": "self.advance(loss, closes=(i + 1) % self.every == 0)",
    "through an object": "self(loss, (i + 1) % self.every == 0 or i + 1 == len(loader))",
}


@pytest.mark.parametrize("call", programs(FLAGS))
def test_what_a_function_is_told_closes_the_window(call: str) -> None:
    plan = "self.schedule.step()"
    text = _FLAG.format(advance="self.optimizer.step()", after=f"{plan}  # <- GL205", call=call)
    assert certain(text) == Project.of(text).marked() != []
    right = _FLAG.format(advance=f"self.optimizer.step()\n            {plan}", after="pass", call=call)
    assert [place for place in said(right) if place[0] != "GL202"] == []


GENERATORS = {
    "losses by name": """\
import torch


class Agent:
    def __init__(self):
        self.policy, self.value = torch.nn.Linear(4, 2), torch.nn.Linear(4, 1)
        self.optimizers = {
            "policy": torch.optim.Adam(self.policy.parameters()),
            "value": torch.optim.Adam(self.value.parameters()),  # <- GL404
        }

    def losses(self, x, y):
        guess = self.value(x)
        yield "policy", (self.policy(x) * (y - guess.detach())).mean()
        yield "value", (guess - y).pow(2).mean()

    def update(self, x, y):
        for name, loss in self.losses(x, y):
            self.optimizers[name].zero_grad()
            loss.backward()
            if name == "policy":
                self.optimizers[name].step()


agent = Agent()
for x, y in loader:
    agent.update(x, y)
""",
    "groups of parameters": """\
import torch


def groups(model):
    yield {"params": model[0].parameters(), "lr": 1e-3}
    yield {"params": model[2].parameters(), "lr": 1e-2}


model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(groups(model), lr=0.1)
for x, y in loader:
    torch.nn.functional.mse_loss(model(x), y).backward()  # <- GL101
    optimizer.step()
""",
}


@pytest.mark.parametrize("text", programs(GENERATORS))
def test_a_generator_without_turns_is_read(text: str) -> None:
    assert certain(text) == Project.of(text).marked() != []


def test_a_context_is_no_list_even_if_its_generator_is_as_plain() -> None:
    text = """\
import torch
from contextlib import contextmanager


@contextmanager
def told(what):
    print(what)
    yield what
    print("done")


model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    with told("step"):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
"""
    assert said(text) == []
    missing = text.replace("        optimizer.zero_grad()\n", "")
    assert [(code, line) for code, _, line in certain(missing)] == [("GL101", 16)]
