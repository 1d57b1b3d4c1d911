"""Losses kept for a while only, schedules that run ahead of their optimizer, parameters as inputs."""

from __future__ import annotations

import pytest

from tests.static.project import certain, programs

_HEAD = """\
import torch
from torch import nn
import torch.nn.functional as F
import library

model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""
_WINDOW = """\
for epoch in range(3):
    for i, (x, y) in enumerate(loader):
        loss = F.mse_loss(model(x), y) / 4
        {keep}
        loss.backward()
        if (i + 1) % 4 == 0 or i + 1 == len(loader):
            optimizer.step()
            optimizer.zero_grad()
            {let_go}
"""
_REPEATED = """\
for epoch in range(3):
    for x, y in loader:
        {begin}
        for _ in range({often}):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            {keep}
        print({total})
"""
_MEMBERS = """\
def train(nets, optimizers, steps):
    for epoch in range(10):
        step = 0
        while step < steps:
            x, y = library.batch()
            {begin}
            for {each}:
                {net}.zero_grad()
                loss = F.mse_loss({net}(x), y)
                loss.backward()
                {optimizer}.step()
                {keep}
            step += 1
        print({total})
"""
_RECENT = """\
losses = []
for x, y in loader:
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    {keep}
    if len(losses) > 100:
        {shorten}
"""
_TERMS = """\
log_alpha = torch.zeros(1, requires_grad=True)
alpha_optimizer = torch.optim.Adam([log_alpha])


def update(batches):
    for x, y in batches:
        first, second = F.mse_loss(model(x), y), F.l1_loss(model(x), y)
        optimizer.zero_grad()
        (first + second).backward()
        optimizer.step()
        {begin}
        if settings.tuned:
            alpha_loss = (log_alpha * y).mean()
            alpha_optimizer.zero_grad()
            alpha_loss.backward()
            alpha_optimizer.step()
            {keep}
    return loss.item()


while True:
    update([library.sample() for _ in range(settings.often)])
"""
_LATE = """\
late = nn.Linear(3, 1)
second = torch.optim.Adam(late.parameters())
schedule = torch.optim.lr_scheduler.LambdaLR(second, lambda epoch: 0.9**epoch)


def train(epoch):
    for x, y in loader:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
        if {when}:
            second.zero_grad()
            F.mse_loss(late(x), y).backward()
            second.step()


for epoch in range(5):
    train(epoch)
    schedule.step()
"""
_EMBEDDED = """\
embedding = nn.Embedding(10, 3)
{made}
joint = torch.optim.Adam(list(head.parameters()) + list(embedding.parameters()))


def train(net, inputs):
    for y in loader:
        joint.zero_grad()
        F.mse_loss(head({used}), y).backward()
        nn.utils.clip_grad_norm_(inputs, 1.0)
        nn.utils.clip_grad_norm_(head.parameters(), 1.0)
        joint.step()


train(net, embedding.weight)
"""
PLAIN = {
    "a sum for each window": _HEAD
    + "running = 0\n"
    + _WINDOW.format(keep="running += loss", let_go="running = 0"),
    "an attribute's sum for each window": _HEAD
    + "model.total = 0\n"
    + _WINDOW.format(keep="model.total = model.total + loss", let_go="model.total = 0"),
    "an attribute's sum of what was detached": _HEAD
    + "model.total = 0\n"
    + _WINDOW.format(keep="model.total = model.total + loss.detach()", let_go="pass"),
    "a list for each window": _HEAD
    + "losses = []\n"
    + _WINDOW.format(keep="losses.append(loss)", let_go="losses = []"),
    "a list that is cleared": _HEAD
    + "losses = []\n"
    + _WINDOW.format(keep="losses.append(loss)", let_go="losses.clear()"),
    "a loop that is left before its first window is full": _HEAD
    + "running = 0\n"
    + _WINDOW.format(keep="running += loss", let_go="running = 0")
    + "        if (i + 1) // 4 == settings.most:\n            break\n",
    "a sum over a few repetitions": _HEAD
    + _REPEATED.format(begin="total = 0", often="settings.often", keep="total += loss", total="total.item()"),
    "a list over a few repetitions": _HEAD
    + _REPEATED.format(
        begin="losses = []", often="5", keep="losses.append(loss)", total="sum(losses).item()"
    ),
    "a sum over models that each learn in the same step": _HEAD
    + _MEMBERS.format(
        begin="total = 0",
        each="i in range(len(nets))",
        net="nets[i]",
        optimizer="optimizers[i]",
        keep="total += loss",
        total="total.item()",
    ),
    "a sum over models beside their optimizers": _HEAD
    + _MEMBERS.format(
        begin="total = 0",
        each="net, own in zip(nets, optimizers)",
        net="net",
        optimizer="own",
        keep="total = total + loss",
        total="float(total)",
    ),
    "a sum of terms that begins with other terms": _HEAD
    + _TERMS.format(begin="loss = first + second", keep="loss = loss + alpha_loss"),
    "a sum that begins as one of its terms": _HEAD
    + _TERMS.format(begin="loss = second", keep="loss += alpha_loss"),
    "a list whose oldest is taken out": _HEAD
    + _RECENT.format(keep="losses.append(loss)", shorten="losses.pop(0)"),
    "a list whose oldest is deleted": _HEAD
    + _RECENT.format(keep="losses.append(loss)", shorten="del losses[0]"),
    "a list that is cut": _HEAD
    + _RECENT.format(keep="losses.append(loss)", shorten="losses = losses[-100:]"),
    "an optimizer that is used from the second epoch on": _HEAD + _LATE.format(when="epoch > 0"),
    "an optimizer that is used now and then": _HEAD + _LATE.format(when="epoch % 2 == 1"),
    "a weight that goes through an unseen layer": _HEAD
    + _EMBEDDED.format(made="net, head = library.Conv(3), nn.Linear(3, 1)", used="net(inputs)"),
    "a weight that goes through unseen layers of a model": _HEAD
    + "\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    + "        self.convs = [library.Conv(3), library.Conv(3)]\n\n    def forward(self, x):\n"
    + "        for conv in self.convs:\n            x = conv(x)\n        return x\n\n\n"
    + _EMBEDDED.format(made="net, head = Net(), nn.Linear(3, 1)", used="net(inputs)"),
    "a weight that is the input itself": _HEAD
    + _EMBEDDED.format(made="net, head = None, nn.Linear(3, 1)", used="inputs"),
    "parameters that another optimizer's unscaling may not cover": _HEAD
    + "model.head = library.Head(3)\nscaler = torch.amp.GradScaler()\nfor x, y in loader:\n"
    + "    scaler.scale(F.mse_loss(model.head(model(x)), y)).backward()\n    scaler.unscale_(optimizer)\n"
    + "    nn.utils.clip_grad_norm_([*model.parameters(), *library.more(model)], 10.0)\n"
    + "    scaler.step(optimizer)\n    scaler.update()\n    optimizer.zero_grad()\n",
}


@pytest.mark.parametrize("text", programs(PLAIN))
def test_nothing_certain_is_said(text: str) -> None:
    assert certain(text) == []


@pytest.mark.parametrize(
    "each",
    ["i in range(steps)", "x, y in loader", "i, (x, y) in enumerate(loader)"],
)
@pytest.mark.parametrize("keep", ["total += loss", "total = total + loss"])
def test_a_sum_over_the_turns_of_one_model_stays_certain(each: str, keep: str) -> None:
    body = _MEMBERS.format(
        begin="total = 0", each=each, net="model", optimizer="optimizer", keep=keep, total="total.item()"
    )
    assert [code for code, _, _ in certain(_HEAD + body.replace("x, y = library.batch()", "pass"))] == [
        "GL107"
    ]
