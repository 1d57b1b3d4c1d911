"""The installed wheel beside PyTorch and nothing else: it audits, trains and demonstrates."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import gradledger
from tests.packaging.environments import Environment
from tests.packaging.test_without_torch import FORGOTTEN

EXACT = """\
import torch
from torch import nn

import gradledger

torch.manual_seed(0)
model, whole = nn.Linear(10, 3), nn.Linear(10, 3).double()
whole.load_state_dict(model.state_dict())
window = [(torch.randn(n, 10), torch.randint(0, 3, (n,))) for n in (8, 8, 8, 3)]

with gradledger.watch(model) as ledger:
    acc = gradledger.Accumulator(model, torch.optim.SGD(model.parameters(), lr=0.1), every=4)
    for x, y in acc.batches(window):
        update = acc.backward(nn.functional.cross_entropy(model(x), y), count=len(x))
    acc.close()
assert update.outcome == "applied" and update.count == 27, update
assert not ledger.findings, ledger

x, y = torch.cat([x for x, _ in window]).double(), torch.cat([y for _, y in window])
nn.functional.cross_entropy(whole(x), y).backward()
right = whole.weight - 0.1 * whole.weight.grad
print(f"{(model.weight - right).abs().max().item():.1e}")
"""


@pytest.mark.slow
def test_a_mistake_is_found_in_the_users_own_line(with_torch: Environment, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(FORGOTTEN, encoding="utf-8")
    options = ["--format", "json", "--output", "out.json", "--save", "run.jsonl", "--report", "run.html"]
    with_torch.run("gradledger", "run", *options, "train.py", cwd=tmp_path, status=1)
    answer = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert answer["tool"]["version"] == gradledger.__version__
    (found,) = answer["findings"]
    # torch lies in no site-packages here, and its lines are not the user's all the same.
    assert (found["code"], found["path"], found["line"]) == ("GL101", "train.py", 7)
    with (tmp_path / "run.jsonl").open(encoding="utf-8") as lines:
        assert gradledger.__version__ in json.loads(next(lines)).values()
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    assert "GL101" in page
    assert gradledger.__version__ in page


@pytest.mark.slow
def test_the_accumulator_trains_and_is_exact(with_torch: Environment, tmp_path: Path) -> None:
    (tmp_path / "exact.py").write_text(EXACT, encoding="utf-8")
    said = with_torch.run("python", "-W", "error", "exact.py", cwd=tmp_path).stdout
    assert float(said) < 1e-6


@pytest.mark.slow
def test_the_demonstration_runs(with_torch: Environment, tmp_path: Path) -> None:
    said = with_torch.run("gradledger", "demo", cwd=tmp_path).stdout
    assert "GL103 cleared-inside-window" in said
    assert "corrected.py\naudited" in said
    assert "Nothing crashed" in said
