"""Starting the real command in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import gradledger

SOURCE = Path(gradledger.__file__).parents[1]
Started = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def python(tmp_path: Path) -> Started:
    """Run Python with arguments in the test's folder, with a plain environment."""

    def started(*args: str, cwd: Path = tmp_path, **environ: str) -> subprocess.CompletedProcess[str]:
        shown = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "GRADLEDGER_ASCII", "RANK", "PYTHONIOENCODING")
        clean = {name: value for name, value in os.environ.items() if name not in shown}
        clean |= {"PYTHONPATH": str(SOURCE), "PYTHONUTF8": "1", **environ}
        return subprocess.run(
            [sys.executable, *args],
            cwd=cwd,
            env=clean,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )

    return started


@pytest.fixture
def command(python: Started) -> Started:
    """Run `gradledger` with arguments."""
    return lambda *args, **more: python("-m", "gradledger", *args, **more)
