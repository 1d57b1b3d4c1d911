"""`gradledger.watch` as its user sees it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import gradledger
from gradledger.ledger.recording import read


def pair() -> tuple[nn.Module, torch.optim.Optimizer]:
    model = nn.Linear(3, 2)
    return model, torch.optim.SGD(model.parameters(), lr=0.1)


def forgetful(model: nn.Module, optimizer: torch.optim.Optimizer, steps: int) -> None:
    for _ in range(steps):
        model(torch.ones(4, 3)).square().mean().backward()
        optimizer.step()


def test_the_short_form_counts_in_good_english() -> None:
    model, optimizer = pair()
    with gradledger.watch(model, optimizer) as ledger:
        assert repr(ledger) == "<gradledger: 0 backward passes, 0 steps, 0 findings>"
        forgetful(model, optimizer, 1)
        assert repr(ledger) == "<gradledger: 1 backward pass, 1 step, 0 findings>"
        forgetful(model, optimizer, 1)
    assert repr(ledger) == "<gradledger: 2 backward passes, 2 steps, 1 finding>"


def test_printing_it_shows_the_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("FORCE_COLOR", "1")
    model, optimizer = pair()
    with gradledger.watch() as ledger:
        forgetful(model, optimizer, 3)
        early = ledger.report()
    assert str(ledger) == ledger.report() == early
    first, *_, last = early.splitlines()
    assert first.startswith("GL101 stale-gradient  error")
    assert first.endswith(f"test_watching.py:{forgetful.__code__.co_firstlineno + 2}")
    assert "model(torch.ones(4, 3)).square().mean().backward()" in early
    assert last == "audited 3 backward passes, 3 steps, 2 parameters in 1 group: 1 error"
    assert "\x1b" not in early


def test_the_report_may_be_asked_for_before_anything_happened() -> None:
    with gradledger.watch() as ledger:
        assert str(ledger) == "audited: no training happened (no backward pass, no optimizer step)"


def test_a_model_handed_over_is_not_found_at_the_line_of_the_watch() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body, self.head = nn.Linear(3, 3), nn.Linear(3, 1)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.head(self.body(x))

    model = Net()
    optimizer = torch.optim.SGD(model.body.parameters(), lr=0.1)
    with gradledger.watch(model, optimizer) as ledger:
        for _ in range(4):
            model.zero_grad()
            model(torch.ones(2, 3)).sum().backward()
            optimizer.step()
    (finding,) = ledger.findings
    assert finding.code == "GL402"
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    assert lines[finding.site.line - 1].strip() == "model(torch.ones(2, 3)).sum().backward()"


def test_what_is_no_model_and_no_optimizer_is_let_be() -> None:
    things: list[Any] = [None, "model", [nn.Linear(1, 1)], 3]
    with gradledger.watch(*things) as ledger:
        pass
    assert ledger.findings == ()


def test_the_balance_names_micro_batches() -> None:
    model, optimizer = pair()
    with gradledger.watch(model, optimizer) as ledger:
        assert ledger.balance(model.weight).state == "none"
        forgetful(model, optimizer, 2)
        model(torch.ones(1, 3)).sum().backward()
        sheet = ledger.balance(model.weight)
    assert (sheet.state, sheet.fresh, sheet.stale) == ("held", 1, 2)


def test_both_see_the_schedule_of_two_watches(tmp_path: Path) -> None:
    model, optimizer = pair()
    first = gradledger.watch(save=str(tmp_path / "first"))
    second = gradledger.watch(save=str(tmp_path / "second"))
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    for ledger in (first, second):
        optimizer.zero_grad()
        model(torch.ones(1, 3)).sum().backward()
        optimizer.step()
        scheduler.step()
        ledger.close()
    advances = [
        [type(event).__name__ for event in read(tmp_path / name)].count("SchedulerStepped")
        for name in ("first", "second")
    ]
    assert advances == [1, 2]


def test_a_recording_names_the_version_that_wrote_it(tmp_path: Path) -> None:
    with gradledger.watch(save=str(tmp_path / "run.jsonl")):
        pass
    header = json.loads((tmp_path / "run.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert header["version"] == gradledger.__version__
