"""Right code in which weights come from another model or a file, and steps that only show a schedule."""

from __future__ import annotations

import textwrap

import pytest

from tests.static.project import certain, said

HEAD = """\
import torch
from torch import nn, optim
import torch.nn.functional as F
from data import loader
import library
"""

AGENT = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 8)
        self.second = nn.Linear(8, 2)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))


class Agent:
    def __init__(self, every):
        self.net = Net()
        self.target = Net()
        self.optimizer = optim.Adam(self.net.parameters(), lr=1e-3)
        self.every = every
        self.count = 0

    def update(self, x, y):
        loss = F.mse_loss(self.net(x), y + 0.9 * self.target(x))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.count += 1
{sync}


agent = Agent({every})
for x, y in loader:
    agent.update(x, y)
"""

COPY = "self.target.load_state_dict(self.net.state_dict())"
PAIRS = "for there, here in zip(self.target.parameters(), self.net.parameters()):"
SYNCS = {
    "each turn": COPY,
    "now and then": f"if self.count % self.every == 0:\n    {COPY}",
    "by a name": """\
if self.count % self.every == 0:
    weights = self.net.state_dict()
    self.target.load_state_dict(weights)""",
    "one by one": f"{PAIRS}\n    there.data.copy_(0.1 * here.data + 0.9 * there.data)",
    "one by one, now and then": f"""\
if self.count % self.every == 0:
    {PAIRS}
        there.data.copy_(here.data)""",
    "by a function": f"""\
def sync():
    {COPY}

if self.count % self.every == 0:
    sync()""",
    "drawn nearer in two moves": f"""\
with torch.no_grad():
    {PAIRS}
        there.mul_(0.9)
        there.add_(0.1 * here)""",
    "drawn nearer by its data": f"{PAIRS}\n    there.data.mul_(0.9).add_(here.data, alpha=0.1)",
    "other data": f"{PAIRS}\n    there.data = 0.9 * there.data + 0.1 * here.data",
    "all at once": "torch._foreach_lerp_(list(self.target.parameters()), list(self.net.parameters()), 0.1)",
    "as one vector": """\
vector = nn.utils.parameters_to_vector(self.net.parameters())
nn.utils.vector_to_parameters(vector, self.target.parameters())""",
    "name by name": """\
weights = self.net.state_dict()
for name, value in self.target.state_dict().items():
    value.copy_(weights[name])""",
    "by something unseen": "library.ema(self.target, self.net)",
    "drawn nearer": f"with torch.no_grad():\n    {PAIRS}\n        there.lerp_(here, 0.01)",
}


@pytest.mark.parametrize("every", ["100", "read()"])
@pytest.mark.parametrize("sync", SYNCS)
def test_a_network_that_is_given_anothers_weights_needs_no_optimizer(sync: str, every: str) -> None:
    text = HEAD + AGENT.format(sync=textwrap.indent(SYNCS[sync], " " * 8), every=every)
    assert said(text) == []


def test_a_head_that_nobody_updates_is_still_told() -> None:
    text = HEAD + AGENT.format(sync="", every="100")
    assert [code for code, *_ in certain(text)] == ["GL402"]


RESUMED = """\
class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.value = nn.Parameter(torch.zeros(1))

    def forward(self):
        return self.value


class Trainer:
    def __init__(self):
        self.actor = nn.Linear(4, 2)
        self.scale = Scale()
        self.optimizer = optim.Adam(self.scale.parameters(), lr=1e-3)

    def resume(self, state):
        self.scale = state["scale"]

    def train(self, x):
        loss = -(self.scale() * self.actor(x).detach()).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


trainer = Trainer()
if settings.checkpoint != "":
    trainer.resume(torch.load(settings.checkpoint))
for x, y in loader:
    trainer.train(x)
"""

RENAMED = """\
model = nn.Linear(4, 2)
optimizer = optim.Adam(model.parameters(), lr=1e-3)
if settings.checkpoint != "":
    model = library.resume(settings.checkpoint)
for x, y in loader:
    optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()
    optimizer.step()
"""


@pytest.mark.parametrize("text", [RESUMED, RENAMED])
def test_what_a_checkpoint_may_have_replaced_is_not_certainly_lost(text: str) -> None:
    assert certain(HEAD + "from settings import settings\nimport library\n" + text) == []


SHOWN = """\
net = nn.Linear(4, 2)
optimizer = optim.SGD(net.parameters(), lr=0.1)
for x, y in loader:
    optimizer.zero_grad()
    F.mse_loss(net(x), y).backward()
    optimizer.step()
{shown}
"""

SCHEDULES = [
    """\
other = nn.Linear(3, 3)
stepper = optim.SGD(other.parameters(), lr=0.1)
schedule = optim.lr_scheduler.StepLR(stepper, 3)
stepper.step()
for i in range(10):
    print(schedule.get_last_lr())
    schedule.step()
""",
    """\
stepper = optim.SGD(nn.Linear(3, 3).parameters(), lr=0.1)
schedule = optim.lr_scheduler.StepLR(stepper, 3)
rates = []
for i in range(10):
    stepper.step()
    schedule.step()
    rates.append(schedule.get_last_lr())
""",
    """\
def curve(make):
    stepper = optim.SGD([nn.Parameter(torch.zeros(1))], lr=0.1)
    schedule = make(stepper)
    for i in range(10):
        stepper.step()
        schedule.step()


curve(lambda stepper: optim.lr_scheduler.StepLR(stepper, 3))
""",
]


@pytest.mark.parametrize("shown", SCHEDULES)
def test_steps_that_only_show_a_schedule_need_no_gradient(shown: str) -> None:
    assert said(HEAD + SHOWN.format(shown=shown)) == []


@pytest.mark.parametrize(
    "loop",
    [
        "    F.mse_loss(model(x), y)\n    optimizer.step()\n",
        "    F.mse_loss(other(x), y).backward()\n    optimizer.step()\n",
    ],
)
def test_a_forgotten_or_misdirected_pass_is_still_told(loop: str) -> None:
    text = HEAD + (
        "model, other = nn.Linear(4, 2), nn.Linear(4, 2)\n"
        "optimizer = optim.SGD(model.parameters(), lr=0.1)\n"
        f"for x, y in loader:\n    optimizer.zero_grad()\n{loop}"
    )
    assert certain(text)


PLAIN = {
    "a target network": HEAD + AGENT.format(sync=f"        {COPY}", every="100"),
    "a checkpoint that replaces a part": HEAD + "from settings import settings\n" + RESUMED,
    "a checkpoint that replaces the model": HEAD
    + "from settings import settings\nimport library\n"
    + RENAMED,
    "a schedule that is shown": HEAD + SHOWN.format(shown=SCHEDULES[0]),
}
