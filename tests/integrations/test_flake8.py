from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gradledger.integrations.flake8 import Checker
from tests.checking.programs import CLEAN, STALE


def flake8(folder: Path, *args: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
    call = [sys.executable, "-m", "flake8", "--isolated", *args]
    return subprocess.run(
        call, cwd=folder, input=text, capture_output=True, text=True, check=False, timeout=120
    )


def test_flake8_knows_it(tmp_path: Path) -> None:
    assert "gradledger" in flake8(tmp_path, "--version").stdout


def test_findings_come_with_those_of_flake8(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import os\n" + STALE)
    lines = flake8(tmp_path, "train.py").stdout.splitlines()
    assert any(line.startswith("train.py:1:1: F401") for line in lines)
    assert any(line.startswith("train.py:8:5: GL101 stale-gradient: adds to gradients") for line in lines)


@pytest.mark.parametrize("comment", ["# noqa", "# noqa: GL101", "# gradledger: allow[stale-gradient]"])
def test_comments_allow_them(tmp_path: Path, comment: str) -> None:
    text = STALE.replace("backward()", f"backward()  {comment}")
    assert flake8(tmp_path, "--select", "GL", "-", text=text).stdout == ""
    assert "GL101" in flake8(tmp_path, "--select", "GL", "-", text=STALE).stdout


def test_right_programs_and_no_programs_are_left_to_flake8(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(CLEAN)
    (tmp_path / "b.py").write_text("loss.backward(\n")
    done = flake8(tmp_path, "--select", "GL,E9", "a.py", "b.py")
    assert [line.split(": ")[1][:4] for line in done.stdout.splitlines()] == ["E999"]


def test_another_codes_plugin_pays_nothing_for_us() -> None:
    import ast

    assert list(Checker(ast.parse(""), "a.py", ["x = 1\n"]).run()) == []
