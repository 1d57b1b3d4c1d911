"""Right code in which it is only guessed which parameters an optimizer, a scaler or a copy has to do with."""

from __future__ import annotations

import textwrap

import pytest

from gradledger.checking.program import check_program
from gradledger.rules.finding import Certainty

PARTLY_CLEARED = """\
import torch
from clients import Client


class Split(Client):
    def fit(self):
        for x, y in self.loader:
            loss = self.criterion(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            for param in self.model.{part}.parameters():
                param.grad.zero_()
            self.optimizer.step()
"""

PARTLY_CLEARED_AT_ONCE = """\
import torch


def fit(net, optimizer, loader, criterion):
    for x, y in loader:
        criterion(net(x), y).backward()
        net.backbone.zero_grad()
        optimizer.step()
        optimizer.zero_grad()
"""

COPIES = """\
import copy
import torch
from clients import Client


class Hessian(Client):
    def __init__(self, **common):
        super().__init__(**common)
        self.outer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.plus = copy.deepcopy(self.model)
        self.minus = copy.deepcopy(self.model)

    def fit(self):
        for x, y in self.loader:
            self.optimizer.zero_grad()
            self.criterion(self.model(x), y).backward()
            self.optimizer.step()
            self.outer.zero_grad()
            self.criterion(self.model(x), y).backward()
            self.criterion(self.plus(x), y).backward()
            self.criterion(self.minus(x), y).backward()
            for p, a, b in zip(self.model.parameters(), self.plus.parameters(), self.minus.parameters()):
                p.grad = p.grad - 0.1 * (a.grad - b.grad)
                a.grad.zero_()
                b.grad.zero_()
            self.outer.step()
"""

SCALER_OF_A_BASE = """\
import torch
from base import Trainer


class Mine(Trainer):
    def epoch(self, loader):
        for data in loader:
            self.optimizer.zero_grad()
            with torch.cuda.amp.autocast(enabled=self.fp16):
                loss = self.train_step(data)
            self.scaler.scale(loss).backward()
            self.scaler.step(self.optimizer)
            self.scaler.update()
"""

SCALED_GRADIENT = """\
import torch
from base import Trainer


class Faces(Trainer):
    def __init__(self, model, optimizer, scaler, head):
        super().__init__(model, optimizer)
        self.model, self.optimizer, self.scaler, self.head = model, optimizer, scaler, head

    def run_step(self):
        features, targets = self.model(next(self.batches))
        gradient, loss = self.head.forward_backward(features, targets)
        features.backward(self.scaler.scale(gradient))
        self.scaler.unscale_(self.optimizer)
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 5)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad()
"""

SCALED_ELSEWHERE = """\
import torch
from base import Trainer


class Handed(Trainer):
    def apply(self, loss):
        self.optimizer.zero_grad()
        loss.backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()
"""

BUILT_ELSEWHERE = """\
import torch
from building import build, Base


class Prox(Base):
    def train(self, loader, anchor):
        optimizer, scheduler = build(self.model, len(loader))
        scaler = torch.cuda.amp.GradScaler()
        for batch in loader:
            loss = self.model(**batch)[0]
            for p, q in zip(self.model.parameters(), anchor.parameters()):
                loss = loss + torch.norm(p - q.data) ** 2
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            self.model.zero_grad()
"""

FAR_AWAY = """\
import torch
import yaml


def optimizer_of(model, settings):
    if settings["optimizer"] == "Adam":
        return torch.optim.Adam(model.parameters())
    raise NotImplementedError


def train(model, batches, optimizer, scaler):
    batch = batches.next()
    while batch is not None:
        model.zero_grad(set_to_none=True)
        scaler.scale(torch.nn.functional.mse_loss(model(batch["x"]), batch["y"])).backward()
        scaler.step(optimizer)
        scaler.update()
        batch = batches.next()


def main(settings, batches):
    model = settings["models"]["in use"]["small"](3).to(settings["device"])
    optimizer = optimizer_of(model, settings)
    scaler = torch.cuda.amp.GradScaler()
    for epoch in range(3):
        train(model, batches, optimizer, scaler)


main(yaml.full_load("settings"), yaml.batches)
"""

MADE = """\
import torch


def main(zoo, loader):
    model = zoo.small(3)
    optimizer = torch.optim.Adam(model.parameters())
    for x, y in loader:
        model.zero_grad(set_to_none=True)
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
"""

PARTS_OF_A_WHOLE = """\
import torch
import transformers
from data import loader

model = transformers.BertForTokenClassification.from_pretrained("bert")
groups = [
    {"params": [p for n, p in model.bert.named_parameters()], "weight_decay": 0.1},
    {"params": model.classifier.parameters(), "lr": 0.1},
]
optimizer = torch.optim.AdamW(groups)
for epoch in range(3):
    for x, y in loader:
        loss = model(x, labels=y)[0]
        model.zero_grad()
        loss.backward()
        optimizer.step()
"""

FILLED_BY_CALLERS = """\
import torch
from torch import nn


class Edge(nn.Module):
    def __init__(self):
        super().__init__()
        self.gates = nn.Parameter(torch.zeros(3))

    def move(self):
        return self.gates.grad.data


def train(edge, x):
    edge(x).sum().backward()
"""

FOLDS = """\
import torch
from torch import nn, optim
from data import loader

for fold in range(10):
    model = nn.Linear(3, 3)
    extra = nn.Parameter(torch.zeros(3))
    optimizer = optim.Adam(model.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x) * extra, y).backward()
        optimizer.step()
"""

PLAIN = {
    "a part of the model is cleared": PARTLY_CLEARED.format(part="classifier"),
    "another part of it": PARTLY_CLEARED.format(part="base"),
    "a part is cleared by its own method": PARTLY_CLEARED_AT_ONCE,
    "copies have gradients of their own": COPIES,
    "a scaler of the base class": SCALER_OF_A_BASE,
    "a scaled gradient is handed to backward()": SCALED_GRADIENT,
    "a loss that may have been scaled": SCALED_ELSEWHERE,
    "unscaling an optimizer that something unseen built": BUILT_ELSEWHERE,
    "groups of the parts of an unseen model": PARTS_OF_A_WHOLE,
    "callers fill what a method reads": FILLED_BY_CALLERS,
}


@pytest.mark.parametrize("program", PLAIN.values(), ids=PLAIN.keys())
def test_nothing_certain(program: str) -> None:
    found = check_program(textwrap.dedent(program), "train.py").findings
    assert [(f.code, f.site.line) for f in found if f.certainty is Certainty.CERTAIN] == []


@pytest.mark.parametrize("longest", [12, 24, 40, 80])
def test_the_methods_of_a_model_are_known_however_long_the_way_to_it(
    longest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gradledger.static.state.LONGEST_LABEL", longest)
    found = check_program(FAR_AWAY, "train.py").findings
    assert [f.code for f in found if f.certainty is Certainty.CERTAIN] == []


def test_what_a_thing_named_as_a_model_makes_may_be_a_model() -> None:
    for maker in ("models['small'](3)", "net_factory(3)", "self_made.make_network(3)", "G_of(3)"):
        program = MADE.replace("zoo.small(3)", maker)
        found = check_program(program, "train.py").findings
        assert [f.code for f in found if f.certainty is Certainty.CERTAIN] == [], maker


def test_a_model_and_its_optimizer_may_both_be_new_in_each_fold() -> None:
    found = check_program(FOLDS, "train.py").findings
    assert "GL403" not in {f.code for f in found}


def test_what_is_wrong_in_such_code_stays_certain() -> None:
    cleared = PARTLY_CLEARED.format(part="X").replace(
        "for param in self.model.X.parameters():\n                param.grad.zero_()",
        "self.model.zero_grad()",
    )
    assert [(f.code, f.certainty) for f in check_program(cleared, "a.py").findings] == [
        ("GL102", Certainty.CERTAIN)
    ]
    forgotten = MADE.replace("model.zero_grad(set_to_none=True)", "pass")
    assert [(f.code, f.certainty) for f in check_program(forgotten, "a.py").findings] == [
        ("GL101", Certainty.CERTAIN)
    ]
