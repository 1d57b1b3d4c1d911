"""Python does more than it says: hooks of classes, exceptions, patterns and patched methods that clear."""

from __future__ import annotations

import pytest

from gradledger.rules.finding import Certainty
from tests.static.project import Project, certain, places, programs

_BEGIN = """\
import torch
import torch.nn as nn
import torch.nn.functional as F

model = nn.Linear(4, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
"""
_FORGETS = """\
for x, y in loader:
    F.mse_loss(model(x), y).backward()  # <- GL101
    opt.step()
"""

_CLEARED = {
    "a deleted gradient": """\
for x, y in loader:
    for p in model.parameters():
        del p.grad
    F.mse_loss(model(x), y).backward()
    opt.step()
""",
    "a deleted attribute": """\
for x, y in loader:
    for p in model.parameters():
        delattr(p, 'grad')
    F.mse_loss(model(x), y).backward()
    opt.step()
""",
    "a property's setter": """\
class Feed:
    @property
    def batch(self):
        return self._batch

    @batch.setter
    def batch(self, batch):
        self._batch = batch
        opt.zero_grad()


feed = Feed()
for feed.batch in loader:
    F.mse_loss(model(feed.batch[0]), feed.batch[1]).backward()
    opt.step()
""",
    "the order of bases": """\
class Base:
    def finish(self):
        opt.step()


class Plain(Base):
    def finish(self):
        super().finish()


class Clearing(Base):
    def finish(self):
        super().finish()
        opt.zero_grad()


class Both(Plain, Clearing):
    pass


both = Both()
for x, y in loader:
    F.mse_loss(model(x), y).backward()
    both.finish()
""",
    "a decorator that is a class": """\
class Clearing:
    def __init__(self, function):
        self.function = function

    def __call__(self, *given):
        opt.zero_grad()
        return self.function(*given)


@Clearing
def update(x, y):
    F.mse_loss(model(x), y).backward()
    opt.step()


for x, y in loader:
    update(x, y)
""",
    "a decorator of a class": """\
def clearing(cls):
    inner = cls.update

    def update(self, *given):
        inner(self, *given)
        opt.zero_grad()

    cls.update = update
    return cls


@clearing
class Trainer:
    def update(self, x, y):
        F.mse_loss(model(x), y).backward()
        opt.step()


trainer = Trainer()
for x, y in loader:
    trainer.update(x, y)
""",
    "a class made by a metaclass": """\
class Wraps(type):
    def __new__(mcs, name, bases, names):
        inner = names['update']

        def update(self, *given):
            inner(self, *given)
            opt.zero_grad()

        return super().__new__(mcs, name, bases, {**names, 'update': update})


class Trainer(metaclass=Wraps):
    def update(self, x, y):
        F.mse_loss(model(x), y).backward()
        opt.step()


trainer = Trainer()
for x, y in loader:
    trainer.update(x, y)
""",
    "an object that clears when it dies": """\
class Guard:
    def __del__(self):
        opt.zero_grad()


for x, y in loader:
    guard = Guard()
    F.mse_loss(model(x), y).backward()
    opt.step()
    del guard
""",
    "a function of autograd's that clears": """\
class Fresh(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        opt.zero_grad()
        return grad


for x, y in loader:
    F.mse_loss(Fresh.apply(model(x)), y).backward()
    opt.step()
""",
    "a hook of the loss": """\
for x, y in loader:
    loss = F.mse_loss(model(x), y)
    loss.register_hook(lambda grad: opt.zero_grad())
    loss.backward()
    opt.step()
""",
    "each part of a model": """\
def clear(part):
    part.zero_grad()


for x, y in loader:
    model.apply(clear)
    F.mse_loss(model(x), y).backward()
    opt.step()
""",
    "what a stack calls at its end": """\
from contextlib import ExitStack

for x, y in loader:
    with ExitStack() as stack:
        stack.callback(opt.zero_grad)
        F.mse_loss(model(x), y).backward()
        opt.step()
""",
    "a step that was replaced for all": """\
plain = torch.optim.SGD.step


def step(self, *given):
    plain(self, *given)
    self.zero_grad()


torch.optim.SGD.step = step
for x, y in loader:
    F.mse_loss(model(x), y).backward()
    opt.step()
""",
    "a backward that was replaced": """\
plain = torch.Tensor.backward


def backward(self, *given, **named):
    opt.zero_grad()
    plain(self, *given, **named)


setattr(torch.Tensor, 'backward', backward)
for x, y in loader:
    F.mse_loss(model(x), y).backward()
    opt.step()
""",
    "a clearing that was put out of work": """\
from unittest import mock

for x, y in loader:
    with mock.patch.object(opt, 'zero_grad'):
        F.mse_loss(model(x), y).backward()
        opt.zero_grad()
        opt.step()
    opt.zero_grad()
""",
    "alternatives in a pattern": """\
for i, (x, y) in enumerate(loader):
    (F.mse_loss(model(x), y) / 2).backward()
    match i % 2:
        case 1 | 3:
            opt.step()
            opt.zero_grad()
        case rest if rest > 3:
            opt.step()
""",
    "a mapping in a pattern": """\
for x, y in loader:
    F.mse_loss(model(x), y).backward()
    opt.step()
    match {'clear': True, 'log': False}:
        case {'log': True}:
            print(x)
        case {'clear': True}:
            opt.zero_grad()
""",
    "sequences in a pattern": """\
for x, y in loader:
    F.mse_loss(model(x), y).backward()
    for order in (('opt', 'step'), ('opt', 'clear')):
        match order:
            case ('opt', 'step'):
                opt.step()
            case (_, 'clear'):
                opt.zero_grad()
""",
    "the handler that fits": """\
class Fresh(Exception):
    pass


def update(x, y):
    F.mse_loss(model(x), y).backward()
    opt.step()
    raise Fresh


for x, y in loader:
    try:
        update(x, y)
    except KeyError:
        pass
    except Fresh:
        opt.zero_grad()
""",
    "a key that is missing": """\
hooks = {}
for x, y in loader:
    F.mse_loss(model(x), y).backward()
    opt.step()
    try:
        hooks['clear']()
    except KeyError:
        opt.zero_grad()
""",
    "an assertion that acts": """\
for x, y in loader:
    F.mse_loss(model(x), y).backward()
    opt.step()
    assert opt.zero_grad() is None
""",
    "a text that acts": """\
for x, y in loader:
    F.mse_loss(model(x), y).backward()
    opt.step()
    line = f'{opt.zero_grad()}'
""",
    "a queue of deeds": """\
for x, y in loader:
    F.mse_loss(model(x), y).backward()
    deeds = [opt.zero_grad]
    deeds.insert(0, opt.step)
    while deeds:
        deeds.pop(0)()
""",
    "one deed or the other": """\
for x, y in loader:
    F.mse_loss(model(x), y).backward()
    opt.step() or opt.zero_grad()
""",
    "a default of getattr": """\
class Hooks:
    pass


for x, y in loader:
    F.mse_loss(model(x), y).backward()
    opt.step()
    getattr(Hooks(), 'clear', opt.zero_grad)()
""",
    "a name that is put together": """\
for x, y in loader:
    for verb in ('zero',):
        getattr(opt, f'{verb}_grad')()
    F.mse_loss(model(x), y).backward()
    opt.step()
""",
    "a name that is computed": """\
for x, y in loader:
    getattr(opt, '_'.join(['zero', 'grad']))()
    F.mse_loss(model(x), y).backward()
    opt.step()
""",
    "an object that says it is false": """\
class Skip:
    def __bool__(self):
        return False


skip = Skip()
for x, y in loader:
    if not skip:
        opt.zero_grad()
    F.mse_loss(model(x), y).backward()
    opt.step()
""",
    "settings that are read": """\
import json

settings = {'clear': False}
settings.update(json.loads(text))
for x, y in loader:
    if settings['clear']:
        opt.zero_grad()
    F.mse_loss(model(x), y).backward()
    opt.step()
""",
    "settings over defaults": """\
import json

settings = {'clear': False, **json.loads(text)}
for x, y in loader:
    if settings['clear']:
        opt.zero_grad()
    F.mse_loss(model(x), y).backward()
    opt.step()
""",
    "attributes set by name": """\
import json


class Settings:
    clear = False


settings = Settings()
for name, value in json.loads(text).items():
    setattr(settings, name, value)
for x, y in loader:
    if settings.clear:
        opt.zero_grad()
    F.mse_loss(model(x), y).backward()
    opt.step()
""",
    "attributes as a dictionary": """\
class Settings:
    def __init__(self):
        self.clear = False


settings = Settings()
vars(settings).update({'clear': True})
for x, y in loader:
    if settings.clear:
        opt.zero_grad()
    F.mse_loss(model(x), y).backward()
    opt.step()
""",
    "a list that something fills": """\
import heapq

wishes = []
heapq.heappush(wishes, 1)
for x, y in loader:
    if wishes:
        opt.zero_grad()
    F.mse_loss(model(x), y).backward()
    opt.step()
""",
    "a flag that a thread sets": """\
import threading

ready = False


def get_ready():
    global ready
    ready = True


threading.Thread(target=get_ready).start()
for x, y in loader:
    if ready:
        opt.zero_grad()
    F.mse_loss(model(x), y).backward()
    opt.step()
""",
    "a flag that a method sets": """\
import signal


class Switch:
    def __init__(self):
        self.on = False
        signal.signal(signal.SIGALRM, self.turn)

    def turn(self, *given):
        self.on = True


switch = Switch()
for x, y in loader:
    if switch.on:
        opt.zero_grad()
    F.mse_loss(model(x), y).backward()
    opt.step()
""",
    "deeds in order": """\
deeds = [('b', opt.step), ('a', opt.zero_grad)]
deeds.sort(key=lambda deed: deed[0])
for x, y in loader:
    deeds[0][1]()
    F.mse_loss(model(x), y).backward()
    deeds[1][1]()
""",
    "a list whose items are replaced": """\
deeds = [print]
deeds[:] = [opt.zero_grad]
for x, y in loader:
    for deed in deeds:
        deed()
    F.mse_loss(model(x), y).backward()
    opt.step()
""",
    "a method that depends": """\
class Trainer:
    try:
        from apex import clear
    except ImportError:

        def clear(self):
            opt.zero_grad()


trainer = Trainer()
for x, y in loader:
    trainer.clear()
    F.mse_loss(model(x), y).backward()
    opt.step()
""",
    "a pass that is handed on": """\
def run(*deeds):
    for deed in deeds:
        deed()


for x, y in loader:
    loss = F.mse_loss(model(x), y)
    run(opt.zero_grad, loss.backward, opt.step)
""",
    "a generator that nobody asks": """\
for x, y in loader:
    opt.zero_grad()
    F.mse_loss(model(x), y).backward()
    later = (o.zero_grad() for o in [opt])
    opt.step()
""",
}

PLAIN = {name: _BEGIN + text for name, text in _CLEARED.items()}

ALONE = {
    "functions that remember": """\
from functools import lru_cache

import torch
import torch.nn as nn


@lru_cache(maxsize=None)
def model():
    return nn.Linear(4, 1)


@lru_cache(maxsize=None)
def optimizer():
    return torch.optim.SGD(model().parameters(), lr=0.1)


for x in loader:
    optimizer().zero_grad()
    model()(x).mean().backward()
    optimizer().step()
""",
    "properties that remember": """\
from functools import cached_property

import torch
import torch.nn as nn


class Trainer:
    @cached_property
    def model(self):
        return nn.Linear(4, 1)

    @cached_property
    def opt(self):
        return torch.optim.SGD(self.model.parameters(), lr=0.1)


t = Trainer()
for x in loader:
    t.opt.zero_grad()
    t.model(x).mean().backward()
    t.opt.step()
""",
    "other parameters in a group": """\
import torch
import torch.nn as nn

first, second = nn.Linear(4, 1), nn.Linear(4, 1)
opt = torch.optim.SGD(first.parameters(), lr=0.1)
opt.param_groups[0]['params'] = list(second.parameters())
for x in loader:
    opt.zero_grad()
    second(x).mean().backward()
    opt.step()
""",
}

FORGOTTEN = {
    "a class with everything in it": """\
class Trainer:
    model = nn.Linear(4, 1)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)

    def run(self):
        for x, y in loader:
            F.mse_loss(self.model(x), y).backward()  # <- GL101
            self.opt.step()


Trainer().run()
""",
    "a dataclass that builds its optimizer": """\
from dataclasses import dataclass


@dataclass
class State:
    model: nn.Module

    def __post_init__(self):
        self.opt = torch.optim.SGD(self.model.parameters(), lr=0.1)


state = State(nn.Linear(4, 1))
for x, y in loader:
    F.mse_loss(state.model(x), y).backward()  # <- GL101
    state.opt.step()
""",
    "a handler for something else": f"""\
class Done(Exception):
    pass


try:
    raise Done
except RuntimeError:
    opt.zero_grad()
except Done:
    pass
{_FORGETS}""",
}


@pytest.mark.parametrize("text", programs(PLAIN))
def test_what_is_cleared_out_of_plain_sight_is_not_called_stale(text: str) -> None:
    assert certain(text) == []


@pytest.mark.parametrize("text", programs(ALONE))
def test_what_is_held_is_known(text: str) -> None:
    assert certain(text) == []


@pytest.mark.parametrize("text", programs(FORGOTTEN))
def test_what_is_forgotten_is_found_all_the_same(text: str) -> None:
    project = Project.of(_BEGIN + text)
    assert places(project.judged(), Certainty.CERTAIN) == project.marked()
