"""The layers are those of one model, with what its own pass brought to them."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from gradledger.story.telling import tell
from tests.traced import traced


@pytest.mark.parametrize("kept", [True, False], ids=["stale before", "none before"])
def test_of_two_models_that_call_their_modules_alike(tmp_path: Path, *, kept: bool) -> None:
    torch.manual_seed(0)
    maker, judge = (nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, out)) for out in (2, 1))
    first = torch.optim.SGD(judge.parameters(), lr=0.1)
    second = torch.optim.SGD(maker.parameters(), lr=0.1)
    judging = nn.Sequential(nn.Linear(2, 3), judge)
    seen = []

    def program() -> None:
        for _ in range(3):
            noise = torch.randn(5, 3)
            if not kept:
                second.zero_grad()
            made = maker(noise)
            first.zero_grad()
            judging(made.detach()).square().mean().backward()
            first.step()
            second.zero_grad()
            loss = judging(made).mean()
            loss.backward()
            norms = [layer.weight.grad.norm().hypot(layer.bias.grad.norm()).item() for layer in maker[::2]]
            seen.append((noise[0].tolist(), loss.item(), norms))
            second.step()

    _, events = traced(program, tmp_path / "run.jsonl")
    story = tell(events)
    noise, loss, norms = seen[1]
    assert [(layer.name, layer.kind) for layer in story.layers] == [
        ("0", "Linear"),
        ("1", "Tanh"),
        ("2", "Linear"),
    ]
    assert [layer.takes[0].shape for layer in story.layers] == [(3,), (4,), (4,)]
    assert list(story.layers[0].takes[0].values) == pytest.approx(noise)
    assert [layer.gradient for layer in story.layers[::2]] == pytest.approx(norms)
    assert story.loss == pytest.approx(loss)
