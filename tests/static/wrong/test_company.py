"""Unseen models that train side by side: what a clearing was meant for cannot be told for certain."""

from __future__ import annotations

import pytest

from gradledger.checking.program import check_program
from gradledger.rules.finding import Certainty

ONE = """\
import torch
from data import loader
from nets import build

net = build()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in loader:
    loss = net(x, y)
    loss.backward()
    opt.zero_grad()
    opt.step()
"""

MORE = {
    "another model": ONE.replace(
        "for x", "head = build()\nsgd = torch.optim.SGD(head.parameters(), lr=0.1)\nfor x"
    ).replace("    opt.zero_grad()\n", "    opt.zero_grad()\n    sgd.step()\n    sgd.zero_grad()\n"),
    "another pass": ONE.replace("    loss.backward()\n", "    loss.backward()\n    net(x, -y).backward()\n"),
}


def found(text: str) -> set[tuple[str, Certainty]]:
    return {(finding.code, finding.certainty) for finding in check_program(text, "train.py").findings}


def test_an_unseen_model_alone_is_judged() -> None:
    assert found(ONE) == {("GL102", Certainty.CERTAIN)}


@pytest.mark.parametrize("name", MORE)
def test_one_in_company_is_not(name: str) -> None:
    assert ("GL102", Certainty.CERTAIN) not in found(MORE[name])
    assert ("GL102", Certainty.POSSIBLE) in found(MORE[name])
