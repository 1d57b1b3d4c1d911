"""The demonstration fits 80 columns and leads on to the lesson."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from gradledger.cli.demo import activation, command, comparison, further

LOOP = {"updates": 84, "loss": 0.163, "weights": [3.0, 4.0]}


def test_the_comparison_fits_80_columns() -> None:
    wrong = {"schedule advanced per micro-batch": {"updates": 168, "loss": 1e9, "weights": [3.0, 5.0]}}
    right = {"schedule advanced per micro-batch": LOOP}
    text = comparison(wrong, right)
    assert "1.0e+09 (0.163)" in text
    assert "20%" in text
    assert max(map(len, text.splitlines())) <= 80


def test_it_leads_on_by_commands_that_can_be_typed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    beside = Path(sys.executable).with_name("gradledger")
    monkeypatch.setattr(shutil, "which", lambda _: str(beside))
    if beside.exists():
        assert command() == "gradledger"
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.chdir(Path(sys.executable).parent)
    assert command() in ("gradledger", f"{Path(sys.executable).name} -m gradledger")
    monkeypatch.chdir(tmp_path)
    assert Path(command().split()[0]).exists()
    assert "explain GL103" in further()
    assert "learn read 7" in further()


def test_where_the_shell_does_not_find_it_the_way_begins_with_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("python", "gradledger", "activate", "activate.fish"):
        (tmp_path / name).touch()
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr(sys, "base_prefix", "/elsewhere")
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.chdir(tmp_path.parent)
    monkeypatch.setenv("SHELL", "/bin/bash")
    first, second = further().splitlines()[1:3]
    assert first.split("  ")[1] == f". {tmp_path.name}/activate"
    assert second.startswith("  gradledger explain GL103 ")
    monkeypatch.setenv("SHELL", "/usr/bin/fish")
    assert activation() == f"source {tmp_path.name}/activate.fish"
    monkeypatch.setattr(sys, "base_prefix", sys.prefix)
    assert activation() is None
    assert f"{tmp_path.name}/gradledger learn read 7" in further()
