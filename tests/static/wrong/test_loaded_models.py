"""A model that was loaded before it trains is judged like any other."""

from __future__ import annotations

import pytest

from tests.static.project import Project, certain, programs

_NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 16)
        self.head = nn.Linear(16, 3)

    def forward(self, x):
        return self.head(torch.relu(self.body(x)))

"""

_LOOP = """\
for x, y in loader:
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()
"""

FORGOTTEN = {
    "a checkpoint in a variable": f"""\
{_NET}
net = Net()
checkpoint = torch.load("net.pt")
net.load_state_dict(checkpoint["model"])
optimizer = torch.optim.Adam(net.body.parameters(), lr=1e-3)  # <- GL402
{_LOOP}""",
    "a file": f"""\
{_NET}
net = Net()
net.load_state_dict(torch.load("net.pt"), strict=False)
optimizer = torch.optim.Adam(net.head.parameters(), lr=1e-3)  # <- GL402
{_LOOP}""",
    "another model, in a function": f"""\
{_NET}

def fine_tune(loader, source):
    net = Net()
    net.load_state_dict(source.state_dict())
    optimizer = torch.optim.Adam(net.body.parameters(), lr=1e-3)  # <- GL402
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()


fine_tune(loader, Net())
""",
}

REPLACED = {
    "rebuilt, then loaded": f"""\
{_NET}
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)  # <- GL403
net = Net()
net.load_state_dict(torch.load("net.pt"))
{_LOOP}""",
    "rebuilt by a method": f"""\
{_NET}

class Trainer:
    def __init__(self):
        self.net = Net()
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=1e-3)  # <- GL403

    def resume(self, path):
        self.net = Net()
        self.net.load_state_dict(torch.load(path)["net"])

    def fit(self, loader):
        for x, y in loader:
            self.optimizer.zero_grad()
            nn.functional.cross_entropy(self.net(x), y).backward()
            self.optimizer.step()


trainer = Trainer()
trainer.resume("net.pt")
trainer.fit(loader)
""",
}

_HEADS = f"""\\
{_NET}

def train(net, optimizer, loader):
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()


"""

LATER = {
    "an attribute": f"""\\
{_HEADS}
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)  # <- GL402
train(net, optimizer, loader)
net.head = nn.Linear(16, 5)
train(net, optimizer, loader)
""",
    "an item": f"""\\
{_HEADS}
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)  # <- GL402
train(net, optimizer, loader)
net[2] = nn.Linear(16, 5)
train(net, optimizer, loader)
""",
}


@pytest.mark.parametrize("text", programs(LATER))
def test_a_part_that_comes_after_the_first_passes_can_be_forgotten(text: str) -> None:
    assert certain(text) == Project.of(text).marked() != []


@pytest.mark.parametrize("text", programs(FORGOTTEN))
def test_parts_of_a_loaded_model_can_be_forgotten(text: str) -> None:
    assert certain(text) == Project.of(text).marked() != []


@pytest.mark.parametrize("text", programs(REPLACED))
def test_a_model_that_was_rebuilt_and_loaded_left_its_optimizer_behind(text: str) -> None:
    assert certain(text) == Project.of(text).marked() != []
