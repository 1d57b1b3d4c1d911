"""A class that is a kind of list holds what is put into it."""

from __future__ import annotations

import pytest

from tests.static.project import Project, certain, programs, said

_EVENTS = """\
import torch


class Event(list):
    def __call__(self, *args):
        for job in self:
            job(*args)


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.before, self.after = Event(), Event()

    def fit(self, loader):
        for x, y in loader:
            self.before()
            torch.nn.functional.mse_loss(self.model(x), y).backward(){mark}
            self.optimizer.step()
            self.after()


trainer = Trainer(torch.nn.Linear(4, 1))
{jobs}
trainer.fit(loader)
"""


def events(jobs: str, mark: str = "") -> str:
    """A trainer whose events are lists of jobs."""
    return _EVENTS.format(jobs=jobs, mark=mark and f"  # <- {mark}")


RIGHT = {
    "appended": events("trainer.after.append(lambda: trainer.optimizer.zero_grad())"),
    "extended": events("trainer.before.extend([lambda: trainer.optimizer.zero_grad()])"),
    "by a method of the base class": """\
import torch


class Optimizers(list):
    def append(self, optimizer):
        super().append(optimizer)

    def zero_grad(self):
        for optimizer in self:
            optimizer.zero_grad()

    def step(self):
        for optimizer in self:
            optimizer.step()


model = torch.nn.Linear(4, 1)
optimizers = Optimizers()
optimizers.append(torch.optim.SGD([model.weight], lr=0.1))
optimizers.append(torch.optim.SGD([model.bias], lr=0.2))
for x, y in loader:
    optimizers.zero_grad()
    torch.nn.functional.mse_loss(model(x), y).backward()
    optimizers.step()
""",
}

WRONG = {
    "nothing that clears": events("trainer.after.append(lambda: print(1))", "GL101"),
    "nothing at all": events("", "GL101"),
    "taken out again": events(
        "trainer.after.append(lambda: trainer.optimizer.zero_grad())\ntrainer.after.clear()", "GL101"
    ),
}


@pytest.mark.parametrize("text", programs(RIGHT))
def test_what_is_in_it_acts(text: str) -> None:
    assert said(text) == []


@pytest.mark.parametrize("text", programs(WRONG))
def test_what_is_not_in_it_is_missed(text: str) -> None:
    assert certain(text) == Project.of(text).marked() != []
