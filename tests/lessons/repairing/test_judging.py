"""A reader's script is judged by reading it, by running it, and by the weights it ends with."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradledger.lessons.catalogue import lesson
from gradledger.lessons.repairing.judging import Verdict, checked, concluded
from tests.forked import forked

BROKEN = (lesson(7).folder / "broken.py").read_text(encoding="utf-8")
CLEARED = BROKEN.splitlines().index("        optimizer.zero_grad()") + 1
FIXED = (lesson(7).folder / "fixed.py").read_text(encoding="utf-8")


def judged_here(text: str, folder: Path) -> Verdict:
    """As `judged`, with the run in a fork of this process instead of a new one."""
    script = folder / "mine.py"
    script.write_text(text, encoding="utf-8")
    check, _ = checked(script)

    def run(result: Path) -> int:
        from gradledger.lessons.repairing.worker import main

        return main([str(script), str(lesson(7).folder), str(result)])

    ran = forked(run)
    return concluded(check, ran.answer, ran.stderr)


def test_what_was_handed_out_is_wrong_in_all_three_ways(tmp_path: Path) -> None:
    verdict = judged_here(BROKEN, tmp_path)
    assert not verdict.good
    assert [(found.code, found.line) for found in verdict.check] == [("GL103", CLEARED)]
    assert [(found.code, found.line) for found in verdict.run] == [("GL103", CLEARED)]
    assert "away from the weights that the arithmetic gives" in verdict.weights


def test_the_mended_script_is_good(tmp_path: Path) -> None:
    assert judged_here(FIXED, tmp_path).good


def test_another_right_way_to_mend_it_is_good_too(tmp_path: Path) -> None:
    mine = BROKEN.replace(
        "        optimizer.zero_grad()\n",
        "        if i % accumulate == 0:\n            optimizer.zero_grad()\n",
    )
    verdict = judged_here(mine, tmp_path)
    assert verdict.good, verdict


def test_an_allowed_finding_is_still_a_finding(tmp_path: Path) -> None:
    mine = BROKEN.replace("optimizer.zero_grad()\n", "optimizer.zero_grad()  # gradledger: allow[GL103]\n")
    verdict = judged_here(mine, tmp_path)
    assert verdict.check
    assert verdict.run


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("lr=0.1", "lr=0.05", "away from the weights"),
        ("manual_seed(0)", "manual_seed(1)", "away from the weights"),
        ("nn.Linear(10, 16)", "nn.Linear(10, 17)", "mat1 and mat2"),
        ("model", "network", 'no module-level "model"'),
        ("nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 1)", "nn.Linear(10, 1)", "other parameters"),
        ("import torch\n", "import torch\nraise SystemExit(3)\n", "status 3"),
    ],
    ids=["rate", "seed", "crash", "name", "layers", "exit"],
)
def test_what_is_still_wrong_is_said(tmp_path: Path, old: str, new: str, said: str) -> None:
    verdict = judged_here(FIXED.replace(old, new), tmp_path)
    assert not verdict.good
    assert said in verdict.weights + verdict.crashed


def test_right_weights_without_training_are_not_good(tmp_path: Path) -> None:
    loaded = BROKEN[: BROKEN.index("for epoch")] + (
        "from gradledger.lessons.course.l07_once_per_window.experiment import _reference\n"
        "model.load_state_dict(_reference())\n"
    )
    verdict = judged_here(loaded, tmp_path)
    assert (verdict.check, verdict.run, verdict.crashed, verdict.weights) == ((), (), "", "")
    assert "no backward() was seen" in verdict.idle
    assert not verdict.good


def test_what_is_no_python_is_not_run(tmp_path: Path) -> None:
    script = tmp_path / "mine.py"
    script.write_text("import torch\nfor x in\n", encoding="utf-8")
    found, problem = checked(script)
    assert found == ()
    assert problem.startswith("line 2: ")
