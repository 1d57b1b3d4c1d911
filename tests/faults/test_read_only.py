"""Folders that cannot be written to: what can be done is done, and the rest is said in words."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.report.recorded import PROGRAM, saved, stale_run

TRAINS = """\
import torch
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
print("trained")
"""
SAVES = """\
import sys, torch, gradledger
model = torch.nn.Linear(2, 1)
acc = gradledger.Accumulator(model, torch.optim.SGD(model.parameters(), lr=0.1), every=2)
acc.backward(model(torch.ones(1, 2)).sum(), count=1)
try:
    acc.save(sys.argv[1], epoch=1)
except OSError as error:
    print(type(error).__name__)
print(acc.backward(model(torch.ones(1, 2)).sum(), count=1).outcome)
"""
LEARNS = """\
import sys
from pathlib import Path
from gradledger.lessons.progress.cards import missed
from gradledger.lessons.progress.store import Store
store = Store(Path(sys.argv[1]), print)
store.change(lambda progress: missed(progress, "l01.what", 5.0))
print(sorted(store.read().cards))
"""


def _as_everybody() -> None:
    """Root may write everywhere; without this capability it may not."""
    if os.geteuid() == 0:
        ctypes.CDLL(None).prctl(24, 1, 0, 0, 0)  # PR_CAPBSET_DROP, CAP_DAC_OVERRIDE


Started = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def started(tmp_path: Path) -> Started:
    def start(*argv: str) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, *argv]
        return subprocess.run(
            line,
            cwd=tmp_path,
            preexec_fn=_as_everybody,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )

    return start


@pytest.fixture
def closed(tmp_path: Path, started: Started) -> Iterator[Path]:
    """A folder with a program and a recording, in which nothing can be made or changed."""
    folder = tmp_path / "closed"
    folder.mkdir()
    (folder / "train.py").write_text(PROGRAM)
    saved(folder / "run.jsonl", stale_run(folder / "train.py"))
    for path in (*folder.iterdir(), folder):
        path.chmod(0o555 if path.is_dir() else 0o444)
    tried = started("-c", f"open({str(folder / 'new')!r}, 'w')")
    if "PermissionError" not in tried.stderr:
        folder.chmod(0o755)
        pytest.skip("this user may write everywhere, and cannot give that up")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    yield folder
    folder.chmod(0o755)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_checks_and_reports(started: Started, closed: Path, tmp_path: Path) -> None:
    told = started("-m", "gradledger", "check", str(closed))
    assert (told.returncode, told.stderr) == (1, "")
    assert "GL101" in told.stdout
    told = started("-m", "gradledger", "check", "--fix", str(closed))
    assert told.returncode == 2
    assert "train.py:1: cannot be written: Permission denied; its findings are left" in told.stderr
    told = started("-m", "gradledger", "report", str(closed / "run.jsonl"))
    assert told.returncode == 2
    assert told.stderr.startswith(f"gradledger report: cannot write {closed / 'run.html'}: Permission denied")
    told = started("-m", "gradledger", "report", str(closed / "run.jsonl"), "--output", "run.html")
    assert told.returncode == 0
    assert "GL101" in (tmp_path / "run.html").read_text()
    told = started("-m", "gradledger", "check", "--write-baseline", str(closed / "known.json"), str(closed))
    assert told.returncode == 2
    assert "cannot write the baseline" in told.stderr


def test_a_run_goes_on_without_its_files(started: Started, closed: Path, tmp_path: Path) -> None:
    (tmp_path / "trains.py").write_text(TRAINS)
    files = ["--save", str(closed / "a.jsonl"), "--report", str(closed / "a.html")]
    told = started("-m", "gradledger", "run", *files, "--output", str(closed / "a.json"), "trains.py")
    assert told.returncode == 2
    assert told.stdout == "trained\n"
    for words in ("cannot write the report to", "the recording", "ends early: Permission denied", "GL101"):
        assert words in " ".join(told.stderr.split())
    assert "Traceback" not in told.stderr


def test_a_training_goes_on_without_its_checkpoint(started: Started, closed: Path, tmp_path: Path) -> None:
    (tmp_path / "saves.py").write_text(SAVES)
    told = started("saves.py", str(closed / "run.ckpt"))
    assert (told.stdout, told.stderr) == ("PermissionError\napplied\n", "")


def test_a_course_goes_on_without_its_progress(started: Started, closed: Path, tmp_path: Path) -> None:
    (tmp_path / "learns.py").write_text(LEARNS)
    told = started("learns.py", str(closed))
    assert told.stdout == (
        f"progress is not kept this time: {closed / 'learn.json'}: Permission denied\n['l01.what']\n"
    )


def test_files_in_place_of_folders(started: Started, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / ".gradledger_cache").write_text("not a folder")
    told = started("-m", "gradledger", "check", "--format", "json", "--output", "x/report.json", "train.py")
    assert told.returncode == 2
    assert "cannot write the report" in told.stderr
    assert len(json.loads(told.stdout)["findings"]) == 1
    assert (tmp_path / ".gradledger_cache").read_text() == "not a folder"
