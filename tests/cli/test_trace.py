"""`gradledger trace` with scripts as users write them."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

import pytest

from gradledger.cli import trace

TRAINS = """
import sys
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(3, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
X, Y = torch.randn(12, 3), torch.randint(0, 2, (12,))
for epoch in range(3):
    for start in range(0, 12, 4):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(X[start:start + 4]), Y[start:start + 4])
        loss.backward()
        optimizer.step()
    score = epoch / 2
print("trained", sys.argv[1:], model.weight.sum().item().hex())
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text(TRAINS)
    return path


def test_the_built_in_example_is_trained_and_told(command) -> None:
    done = command("trace", COLUMNS="100")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Step 2 of 250, stage by stage")
    numbered = re.findall(r"^ +\d+  ([a-z ]+)  \S*example.py:\d+$", done.stdout, re.MULTILINE)
    assert numbered == ["data", "forward", "loss", "zero the gradients", "backward", "optimizer step"]
    for heading in ("One sample through the model", "Epoch by epoch", "Loss"):
        assert heading in done.stdout
    assert re.search(r"loss 0\.6\d+ to 0\.2\d+, accuracy 0\.6\d+ to 0\.9\d+", done.stdout)


def test_a_script_runs_as_python_runs_it_and_the_trace_follows(command, python, script: Path) -> None:
    plain = python(script.name, "a", "--step")
    done = command("trace", "--metric", "score", script.name, "a", "--step")
    assert done.stdout.startswith(plain.stdout)  # the weights are the same bits
    told = done.stdout.removeprefix(plain.stdout)
    assert "Step 2 of 9, stage by stage" in told
    assert "no loader: the model's own input" in told
    rows = re.findall(r"^ +(\d)  [\d.]+ +[\d.]+ +([\d.]+) ", told, re.MULTILINE)
    assert rows == [("1", "0"), ("2", "0.500"), ("3", "1")]
    assert done.returncode == 0


def test_everything_is_ascii_where_it_must_be(command, script: Path) -> None:
    done = command("trace", script.name, GRADLEDGER_ASCII="1", COLUMNS="60")
    assert done.stdout.isascii()
    assert max(map(len, done.stdout.splitlines()[1:])) <= 60
    assert command("trace", "--compare", GRADLEDGER_ASCII="1").stdout.isascii()


def test_another_step_can_be_chosen(command, script: Path) -> None:
    assert "Step 7 of 9, stage by stage" in command("trace", "--step", "7", script.name).stdout
    beyond = command("trace", "--step=70", script.name).stdout
    assert "There is no step 70: the script made 9 steps; the first is shown instead." in beyond
    assert "Step 1 of 9" in beyond


def test_the_recording_is_kept_where_it_was_asked_for(command, script: Path, tmp_path: Path) -> None:
    done = command("trace", "--save", "run.jsonl", "--report", "run.html", script.name)
    told = "".join(done.stdout.split())  # a long path goes over several lines
    assert f"note:thetraceasapage:{tmp_path / 'run.html'}" in told
    kinds = {
        json.loads(line)[1]
        for line in (tmp_path / "run.jsonl").read_text().splitlines()[1:]
        if line[0] == "["
    }
    assert {"BackwardRan", "LossSeen", "ForwardSeen"} <= kinds
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run.html", "run.jsonl", "train.py"]
    page = (tmp_path / "run.html").read_text()
    for told in ('"zero the gradients"', '"cross_entropy"', '"falling by', '"names":["weight","bias"]'):
        assert told.replace('"cross_entropy"', "by cross_entropy") in page


def test_no_recording_is_left_behind(command, script: Path, tmp_path: Path) -> None:
    place = tmp_path / "temporary"
    place.mkdir()
    command("trace", script.name, TMPDIR=str(place))
    assert [path for path in place.iterdir() if path.name.startswith("gradledger")] == []


def test_a_crash_keeps_its_traceback_and_what_came_before_is_told(command, script: Path) -> None:
    script.write_text(TRAINS.replace("    score", "    1 / (1 - epoch)\n    score"))
    done = command("trace", script.name)
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr
    assert "gradledger" not in done.stderr
    assert "Step 2 of 6, stage by stage" in done.stdout


@pytest.mark.parametrize("text", ["print('hello')\n", "import torch\nprint('hello')\n"])
def test_a_script_without_training_is_told_so(command, script: Path, text: str) -> None:
    script.write_text(text)
    done = command("trace", script.name)
    assert (done.returncode, done.stderr) == (0, "")
    nothing = "Nothing to trace: no training happened (no backward pass, no optimizer step).\n"
    assert done.stdout == f"hello\n\n{nothing}"


@pytest.mark.parametrize("before", ["", None], ids=["empty", "of another run"])
def test_what_lay_there_before_is_not_this_run(command, script: Path, before: str | None) -> None:
    kept = script.with_name("run.jsonl")
    if before is None:
        command("trace", "--save", kept.name, script.name)
    else:
        kept.write_text(before)
    script.write_text("print('hello')\n")
    done = command("trace", "--save", kept.name, "--report", "run.html", script.name)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Nothing to trace" in done.stdout
    assert "Nothing was trained" in script.with_name("run.html").read_text()


def test_passes_without_a_step_are_told(command, script: Path) -> None:
    script.write_text(TRAINS.replace("        optimizer.step()\n", ""))
    done = command("trace", script.name)
    assert "Before any step, stage by stage" in done.stdout
    assert "no update was made" in done.stdout


def test_findings_and_a_missing_metric_are_noted(command, script: Path) -> None:
    script.write_text(TRAINS.replace("        optimizer.zero_grad()\n", ""))
    done = command("trace", "--metric", "nowhere", script.name, COLUMNS="120")
    assert "on top of stale ones" in done.stdout
    assert "they were never cleared" in done.stdout
    assert "note: the audit finds GL101 stale-gradient (train.py:12)" in done.stdout
    assert 'no epoch left a number in a variable "nowhere"' in done.stdout


def test_mistakes_are_compared_with_the_right_loop(command, tmp_path: Path) -> None:
    done = command("trace", "--compare", "--report", "compared.html")
    assert (done.returncode, done.stderr) == (0, "")
    last = done.stdout.partition("Nothing crashed.")[2]
    rows = re.findall(r"^  ([a-z ]+?)  +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) +(\d+)%$", last, re.MULTILINE)
    assert [row[0] for row in rows] == [
        "missing zero",
        "zero after backward",
        "zero inside the window",
        "undivided loss",
    ]
    norms = {row[0]: (float(row[1]), float(row[2])) for row in rows}
    assert norms["missing zero"][0] > 3 * norms["missing zero"][1]
    assert norms["zero after backward"][0] == 0
    assert norms["zero inside the window"][0] < norms["zero inside the window"][1]
    assert norms["undivided loss"][0] > 3 * norms["undivided loss"][1]
    first = re.search(r"undivided loss\n(?:.*\n)+?      1 +([\d.]+) +([\d.]+) ", done.stdout)
    assert first is not None
    assert float(first[1]) == pytest.approx(4 * float(first[2]), rel=0.01)  # before the trainings part
    page = (tmp_path / "compared.html").read_text()
    assert page.count("<svg viewBox") == 12 + 16  # three curves for each mistake, and two keys with two lines
    for row in rows:
        cells = "".join(f"<td>{cell}</td>" for cell in row[:5])
        assert f"<tr>{cells}<td>{row[5]}%</td></tr>" in page
    assert "<script" not in page
    assert "default-src 'none'" in page.replace("&#x27;", "'")


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (["--step", "0", "x.py"], "'0' is no step: the first is 1"),
        (["--step", "x"], "'x' is no step"),
        (["--compare", "x.py"], "--compare trains the built-in example and takes nothing else"),
        (["--report", "no/where/x.html"], "there is no folder"),
        (["-m"], "a module after -m"),
        (["nowhere.py"], "nowhere.py"),
    ],
)
def test_mistyped_commands_are_explained(command, line: list[str], text: str) -> None:
    done = command("trace", *line)
    assert done.returncode == 2
    assert text in done.stderr
    assert done.stdout == ""


def test_the_table_of_options_with_a_value_is_complete() -> None:
    parser = argparse.ArgumentParser()
    trace.add_arguments(parser)
    actions = [action for action in parser._actions if action.nargs != 0 and action.option_strings]
    assert {option for action in actions for option in action.option_strings} == trace.WITH_VALUE
