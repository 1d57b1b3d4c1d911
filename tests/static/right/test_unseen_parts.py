"""Models made of parts that are not seen: their zero_grad() may clear what the optimizer holds."""

from __future__ import annotations

import pytest

from tests.static.project import certain, programs

_HEAD = """\
import torch
from torch import nn
from somewhere import load, get_groups, setup


class BiEncoder(nn.Module):
    def __init__(self, question, context):
        super().__init__()
        self.question, self.context = question, context


def get_model():
    return BiEncoder(load('question'), load('context'))


"""
_LOOP = """\
for epoch in range(3):
    for i, batch in enumerate(loader):
        loss = forward_pass({model}, batch)
        loss.backward()
        if (i + 1) % 4 == 0:
            optimizer.step()
            {model}.zero_grad()
"""
PLAIN = {
    "a model of two unseen encoders": _HEAD
    + "model = get_model()\noptimizer = torch.optim.AdamW(get_groups(model))\n"
    + _LOOP.format(model="model"),
    "wrapped if there are several devices": _HEAD
    + "model = get_model()\noptimizer = torch.optim.AdamW(get_groups(model))\nif devices() > 1:\n"
    + "    model = torch.nn.DataParallel(model)\n"
    + _LOOP.format(model="model"),
    "handed back by a library": _HEAD
    + "model = get_model()\noptimizer = torch.optim.AdamW(get_groups(model))\n"
    + "model, optimizer = setup(model, optimizer)\n"
    + _LOOP.format(model="model"),
}


@pytest.mark.parametrize("text", programs(PLAIN))
def test_nothing_certain_is_said(text: str) -> None:
    assert certain(text) == []
