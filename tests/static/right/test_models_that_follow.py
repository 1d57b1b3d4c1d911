"""Models that are given another's weights need no optimizer, even if a pass reaches them."""

from __future__ import annotations

import pytest

from tests.static.project import programs, said

_START = """\
import copy
import torch
from torch import nn

online, follower = nn.Linear(4, 2), nn.Linear(4, 2)
follower.load_state_dict(online.state_dict())
optimizer = torch.optim.Adam(online.parameters(), lr=1e-3)
"""

PLAIN = {
    "a target network that is reached, and copied once": f"""\
{_START}
for x, y in loader:
    optimizer.zero_grad()
    (online(x) - follower(y)).pow(2).mean().backward()
    optimizer.step()
""",
    "copied every so often": f"""\
{_START}
for i, (x, y) in enumerate(loader):
    optimizer.zero_grad()
    (online(x) - follower(y)).pow(2).mean().backward()
    optimizer.step()
    if i % 100 == 99:
        follower.load_state_dict(online.state_dict())
""",
    "a teacher from a file": """\
import torch
from torch import nn

student, teacher = nn.Linear(4, 2), nn.Linear(4, 2)
teacher.load_state_dict(torch.load("teacher.pt"))
optimizer = torch.optim.Adam(student.parameters(), lr=1e-3)
for x, y in loader:
    optimizer.zero_grad()
    nn.functional.mse_loss(student(x), teacher(x)).backward()
    optimizer.step()
""",
}


@pytest.mark.parametrize("text", programs(PLAIN))
def test_nothing_is_said(text: str) -> None:
    assert said(text) == []
