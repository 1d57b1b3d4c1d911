"""Audits a script in a forked child of this process, which has torch imported already: that saves seconds."""

from __future__ import annotations

import atexit
import faulthandler
import json
import multiprocessing
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# The point: what scripts import, or torch imports at the first optimizer, is imported once, here.
import sklearn.datasets  # noqa: F401
import torch._dynamo
import torch.utils.data  # noqa: F401

import gradledger.cli.main
import gradledger.host.session  # noqa: F401


@dataclass(frozen=True)
class Audit:
    """What the audited script left behind."""

    status: int
    stdout: str
    stderr: str
    answer: dict[str, Any]

    def codes(self, certainty: str = "certain") -> list[tuple[str, int]]:
        """(code, line) of the findings with this certainty."""
        return [(f["code"], f["line"]) for f in self.answer["findings"] if f["certainty"] == certainty]


def audit(
    script: Path, *args: str, options: tuple[str, ...] = (), env: dict[str, str] | None = None
) -> Audit:
    """Run `gradledger run script args` in a forked child and read its JSON report."""

    def run(report: Path) -> int:
        from gradledger.cli.main import main

        return main(["run", "--format", "json", "--output", str(report), *options, str(script), *args])

    return forked(run, env)


def forked(run: Callable[[Path], int], env: dict[str, str] | None = None) -> Audit:
    """Call a function in a forked child; it leaves its answer, in JSON, in the file it is given."""
    # Not TemporaryDirectory: the child runs this process's exit handlers, which would remove it.
    folder = Path(tempfile.mkdtemp())
    try:
        report = folder / "report.json"
        child = os.fork()
        if child == 0:
            _become(folder, lambda: run(report), env)
        _, state = os.waitpid(child, 0)
        stdout, stderr = (folder / "out").read_text(), (folder / "err").read_text()
        status = os.waitstatus_to_exitcode(state)
        assert status >= 0, f"the forked script died of signal {-status}:\n{stderr}"
        answer = json.loads(report.read_text()) if report.exists() else {}
        return Audit(status, stdout, stderr, answer)
    finally:
        shutil.rmtree(folder)


def _become(folder: Path, run: Callable[[], int], env: dict[str, str] | None) -> None:
    status = 70
    try:
        os.environ.update(env or {})
        # A test before this one may have settled how this process starts others; a script starts undecided.
        multiprocessing.set_start_method(None, force=True)
        # Nor is what others have left for this process's end the script's (some of it takes seconds),
        atexit._clear()
        # nor how errors look once a test has made a process group: torch writes the rank before each line,
        sys.excepthook = sys.__excepthook__
        # nor an Accelerator that a test has made: there is one state for the whole process.
        if (accelerate := sys.modules.get("accelerate.state")) is not None:
            accelerate.AcceleratorState._reset_state(reset_partial_state=True)
            accelerate.GradientState._reset_state()
        for name, number in (("out", 1), ("err", 2)):
            handle = os.open(folder / name, os.O_WRONLY | os.O_CREAT, 0o600)
            os.dup2(handle, number)
        faulthandler.enable(2)
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)
        status = run()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(status)
