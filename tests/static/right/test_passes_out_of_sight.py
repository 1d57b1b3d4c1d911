"""Right code with passes that are not in sight: recorded graphs, sums of unknown length, unseen models."""

from __future__ import annotations

import pytest

from tests.static.project import certain

HEAD = """\
import torch
from torch import nn, optim
import torch.nn.functional as F
from data import loader
import library
"""

RECORDED = """\
class Recorded:
    def __init__(self, function, warmup=3):
        self.function = function
        self.warmup = warmup
        self.turn = 0
        self.graph = None

    def __call__(self, x, y):
        if self.turn < self.warmup:
            self.function(x, y)
        elif self.turn == self.warmup:
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self.function(x, y)
        else:
            self.graph.replay()
        self.turn += 1


class Trainer:
    def __init__(self, fast):
        self.model = nn.Linear(4, 2)
        self.optimizer = optim.SGD(self.model.parameters(), lr=0.1)
        self.fill = Recorded(self.gradients) if fast else self.gradients

    def gradients(self, x, y):
        self.optimizer.zero_grad()
        F.mse_loss(self.model(x), y).backward()

    def update(self, x, y):
        self.fill(x, y)
        self.optimizer.step()


trainer = Trainer(library.fast())
for epoch in range(3):
    for x, y in loader:
        trainer.update(x, y)
"""

REPLAYED = """\
model = nn.Linear(4, 2)
optimizer = optim.SGD(model.parameters(), lr=0.1)
graph = torch.cuda.CUDAGraph()
optimizer.zero_grad(set_to_none=True)
with torch.cuda.graph(graph):
    loss = F.mse_loss(model(held), wanted)
    loss.backward()
for x, y in loader:
    held.copy_(x)
    wanted.copy_(y)
    graph.replay()
    optimizer.step()
"""


@pytest.mark.parametrize("text", [RECORDED, REPLAYED])
def test_a_recorded_graph_runs_its_passes_again(text: str) -> None:
    assert certain(HEAD + text) == []


ADDED = """\
class Critic(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.parts = nn.ModuleList()
        for size in sizes:
            self.parts.append(nn.Linear(size, 1))

    def scale(self):
        for p in self.parts.parameters():
            p.grad.data.mul_(0.5)


critic = Critic([3, 4])
optimizer = optim.Adam(critic.parameters())
for batch in loader:
    total = {start}
    for name, value in {source}:
        total = total + value
    total.backward()
    critic.scale()
    optimizer.step()
    optimizer.zero_grad()
"""


@pytest.mark.parametrize("start", ["0", "0.0", "None"])
@pytest.mark.parametrize("source", ["{}.items()", "zip([], critic.parts)", "zip(batch, [])"])
def test_a_sum_that_stayed_a_number_was_not_followed(start: str, source: str) -> None:
    assert certain(HEAD + ADDED.format(start=start, source=source)) == []


TWO = """\
def compare(tables, kind, features):
    fused = library.Fused(tables)
    plain = library.Plain(tables)
    optimizer = {optimizer}

    def one():
        {fused}.backward()
        optimizer.zero_grad()
        {plain}.backward()
        optimizer.step()

    one()
    one()
"""


@pytest.mark.parametrize("optimizer", ["kind(plain.parameters())", "library.optimizer_of(plain)"])
@pytest.mark.parametrize(
    ("fused", "plain"),
    [
        ("fused(features).sum()", "plain(features).sum()"),
        ("sum(fused(features).values())", "sum(plain(features).values())"),
        ("fused.loss(features)", "plain.loss(features)"),
        ("library.loss_of(fused)", "library.loss_of(plain)"),
        ("library.first()", "library.second()"),
    ],
)
def test_one_of_several_passes_may_be_for_a_model_that_steps_by_itself(
    optimizer: str, fused: str, plain: str
) -> None:
    assert certain(HEAD + TWO.format(optimizer=optimizer, fused=fused, plain=plain)) == []


@pytest.mark.parametrize("loss", ["F.mse_loss(model(x), y)", "library.loss(model, x, y)"])
def test_a_single_pass_that_is_thrown_away_is_still_told(loss: str) -> None:
    text = HEAD + (
        "model = library.build()\noptimizer = optim.SGD(model.parameters(), lr=0.1)\n"
        f"for x, y in loader:\n    {loss}.backward()\n    optimizer.zero_grad()\n    optimizer.step()\n"
    )
    assert [code for code, *_ in certain(text)] == ["GL102"]


LENT = """\
policy, value = nn.Linear(3, 2), nn.Linear(3, 1)
optimizer = optim.Adam([*policy.parameters(), *value.parameters()])
buffer = library.Buffer()
for x, y in loader:
    {lend}
    logs = {back}
    gain = y - value(x).detach()
    optimizer.zero_grad()
    {loss}.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    "loss", ["-(logs * gain).mean()", "F.mse_loss(logs, gain)", "(gain - logs).pow(2).mean()"]
)
@pytest.mark.parametrize(
    ("lend", "back"),
    [
        ("buffer.add(policy(x), x)", "buffer.get()[0]"),
        ("buffer.add(policy(x))", "buffer.logs"),
        ("library.push(buffer, policy(x))", "library.pop(buffer)"),
    ],
)
def test_what_was_lent_may_come_back_with_its_graph(lend: str, back: str, loss: str) -> None:
    assert certain(HEAD + LENT.format(lend=lend, back=back, loss=loss)) == []


@pytest.mark.parametrize("loss", ["F.mse_loss(out.detach(), y)", "args.weight * F.mse_loss(out.detach(), y)"])
def test_a_detached_loss_is_still_told_where_something_logs(loss: str) -> None:
    text = HEAD + (
        "args = library.parse_args()\nmodel = nn.Linear(3, 2)\nmeter = library.Meter()\n"
        "optimizer = optim.SGD(model.parameters(), lr=0.1)\n"
        "for x, y in loader:\n    out = model(x)\n    optimizer.zero_grad()\n    meter.update(out)\n"
        f"    loss = {loss}\n    loss.backward()\n    optimizer.step()\n"
    )
    assert [code for code, *_ in certain(text)] == ["GL106"]


PLAIN = {
    "a recorded graph": HEAD + RECORDED,
    "a sum over parts": HEAD + ADDED.format(start="0", source="zip(batch, critic.parts)"),
    "a model that steps by itself": HEAD
    + TWO.format(
        optimizer="kind(plain.parameters())", fused="fused(features).sum()", plain="plain(features).sum()"
    ),
    "log probabilities that were lent": HEAD
    + LENT.format(lend="buffer.add(policy(x))", back="buffer.logs", loss="-(logs * policy(x) * gain).mean()"),
}
