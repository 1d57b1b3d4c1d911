"""A clock that jumps by days, back and forth: nothing waits for it, nothing is counted by it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gradledger.lessons.progress.cards import DAY, WAITS, due, known, missed
from gradledger.lessons.progress.state import Progress

JUMPING = """\
import time
_real, _jumps = time.time, [0]

def _time():
    _jumps[0] += 1
    return _real() + (-1) ** _jumps[0] * 86400.0 * _jumps[0]

time.time = _time
time.time_ns = lambda: int(_time() * 1e9)
"""
TRAINS = """\
import time, torch, gradledger
first, second = time.time(), time.time()
print("jumped:", abs(second - first) > 86_000)
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(40):
    time.time()
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
optimizer.zero_grad()
acc = gradledger.Accumulator(model, torch.optim.Adam(model.parameters()), every=2)
for number in range(6):
    acc.backward(model(torch.ones(1, 2)).sum(), count=1)
    acc.save("run.ckpt", number=number)
again = gradledger.Accumulator(model, torch.optim.Adam(model.parameters()), every=2)
print(again.resume("run.ckpt"))
"""


@pytest.mark.slow
def test_a_run_under_a_clock_that_jumps_is_told_as_any_other(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAINS)
    (tmp_path / "clock").mkdir()
    (tmp_path / "clock" / "sitecustomize.py").write_text(JUMPING)
    path = os.pathsep.join([str(tmp_path / "clock"), os.environ.get("PYTHONPATH", "")])
    line = [sys.executable, "-m", "gradledger", "run", "--save", "run.jsonl", "--live"]
    line += ["--report", "run.html", "--format", "json", "--output", "told.json", "train.py"]
    environ = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(line, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=240)
    assert done.returncode == 1, done.stderr
    assert done.stdout == "jumped: True\n{'number': 5}\n"
    told = json.loads((tmp_path / "told.json").read_text())
    assert [finding["code"] for finding in told["findings"]] == ["GL101"]
    assert (told["checked"]["backwards"], told["checked"]["steps"]) == (46, 43)
    assert "GL101" in (tmp_path / "run.html").read_text()


@pytest.mark.parametrize("wrong", [-4000 * DAY, -30 * DAY, 30 * DAY, 4000 * DAY])
def test_cards_come_back_however_wrong_the_clock_was(wrong: float) -> None:
    now = 1.7e9
    progress = missed(Progress(), "l01.what", now + wrong)
    assert due(progress.cards, now) == ["l01.what"]
    for box in range(1, len(WAITS)):
        progress = known(progress, "l01.what", now + wrong)
        waits = WAITS[box]
        assert due(progress.cards, now + waits + 2 * DAY) == ["l01.what"], box


def test_a_right_clock_lets_cards_rest() -> None:
    progress = known(missed(Progress(), "l01.what", 1e9), "l01.what", 1e9)
    assert due(progress.cards, 1e9 + DAY / 2) == []
    assert due(progress.cards, 1e9 + DAY) == ["l01.what"]
