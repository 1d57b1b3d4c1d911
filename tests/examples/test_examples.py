"""Nothing is found in an example but what it shows; accumulators arrive where the loops by hand do."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest
import torch

from gradledger.lessons.repairing.judging import checked
from tests.forked import audit
from tests.launched import launched

FOLDER = Path(__file__).parents[2] / "examples"
WRONG = {"without_clearing": {"GL101"}}
NAMES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "tokens")  # it has a test of its own
SAME = [
    ("window", "accumulator_window"),
    ("window_fp16", "accumulator_fp16"),
    ("gan", "accumulator_gan"),
    ("ddp", "accumulator_ddp"),  # under torchrun: test_tokens
]


def result_of(name: str) -> dict[str, Any]:
    return runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_found_but_the_mistake_it_shows(name: str) -> None:
    script = FOLDER / f"{name}.py"
    read, problem = checked(script)
    assert problem == ""
    assert {one.code for one in read} == WRONG.get(name, set())
    ran = audit(script)
    assert {one["code"] for one in ran.answer["findings"]} == WRONG.get(name, set())
    assert ran.stdout.strip()


@pytest.mark.parametrize(("by_hand", "by_accumulator"), SAME)
def test_accumulator_arrives_at_the_weights_of_the_loop_by_hand(by_hand: str, by_accumulator: str) -> None:
    left, right = result_of(by_hand), result_of(by_accumulator)
    models = [
        name
        for name, value in left.items()
        if isinstance(value, torch.nn.Module) and list(value.parameters())
    ]
    assert models
    for name in models:
        for one, other in zip(left[name].parameters(), right[name].parameters(), strict=True):
            torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


def test_window_is_the_large_batch() -> None:
    found = result_of("window")
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(10, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1)).double()
    x, y = found["x"].double(), found["y"].double()
    for _ in range(3):
        for inputs, targets in zip(x.split(32), y.split(32), strict=True):
            loss = (model(inputs) - targets).square().mean()
            gradients = torch.autograd.grad(loss, list(model.parameters()))
            with torch.no_grad():
                for parameter, gradient in zip(model.parameters(), gradients, strict=True):
                    parameter -= 0.1 * gradient
    for one, other in zip(found["model"].parameters(), model.parameters(), strict=True):
        torch.testing.assert_close(one.double(), other, rtol=0, atol=1e-6)


def test_gradients_add_up_without_clearing_and_not_with_it(capsys: pytest.CaptureFixture[str]) -> None:
    seen = {}
    for name in ("without_clearing", "with_clearing"):
        result_of(name)
        seen[name] = re.findall(r"weight.grad = \[(\S+),", capsys.readouterr().out)
    with_it, without = (list(map(float, seen[name])) for name in ("with_clearing", "without_clearing"))
    assert with_it[:1] == without[:1]
    # Both stand at the same weights after the first step, so the second pass adds the same gradient.
    assert without[1] == pytest.approx(with_it[0] + with_it[1], abs=2e-4)  # four decimals are shown


@pytest.mark.slow
@pytest.mark.distributed
def test_two_processes_make_the_updates_of_one(capsys: pytest.CaptureFixture[str]) -> None:
    result_of("ddp")
    alone = capsys.readouterr().out.splitlines()
    lines, said = launched(FOLDER / "ddp.py", ranks=2)
    assert lines == alone
    assert "in 2 processes: no findings" in said
